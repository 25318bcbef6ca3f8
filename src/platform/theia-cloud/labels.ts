import type { KubeObject } from '../../kube/api.ts';

/** Labels and annotations of the platform's own operator. */
export const APP_LABEL = 'app';
export const GENERATION_LABEL = 'theia-cloud.io/appdefinition-generation';
export const SERVICE_TYPE_LABEL = 'theia-cloud.io/service-type';
export const TEMPLATE_PURPOSE_LABEL = 'theia-cloud.io/template-purpose';

/** Put on both Services at a claim and taken off at release; its other session labels stay for good. */
export const CLAIM_LABELS = [
  'theia-cloud.io/user',
  'theia-cloud.io/session',
  'theia-cloud.io/session-uuid',
] as const;

/** On a Session: the id of the slot that it was given. */
export const INSTANCE_ID_ANNOTATION = 'theia-cloud.io/instance-id';
/** On a Session: `eager` or `lazy-fallback`; absent on one that was never warm. */
export const START_STRATEGY_ANNOTATION = 'theia-cloud.io/session-start-strategy';
/** On a warm pod since its claim: the operator poked the kubelet to read the allow-list again. */
export const REFRESH_ANNOTATION = 'theia-cloud.io/eager-start-refresh';

/** The AppDefinition generation that `object` was made for; `undefined` when the label is missing or is no number (P17). */
export function generationOf(object: KubeObject): number | undefined {
  const text = object.metadata.labels?.[GENERATION_LABEL];
  if (text === undefined || !/^[0-9]{1,15}$/.test(text)) return undefined;
  return Number(text);
}
