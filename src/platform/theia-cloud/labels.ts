import type { KubeObject } from '../../kube/api.ts';

/** Labels and annotations of the platform's own operator. */
export const APP_LABEL = 'app';
export const GENERATION_LABEL = 'theia-cloud.io/appdefinition-generation';
export const SERVICE_TYPE_LABEL = 'theia-cloud.io/service-type';
export const TEMPLATE_PURPOSE_LABEL = 'theia-cloud.io/template-purpose';
/** On whatever belongs to a Session: its AppDefinition. */
export const APP_DEFINITION_LABEL = 'theia-cloud.io/app-definition';
/** On a sidecar's objects and pods: its name in the definition. */
export const SIDECAR_LABEL = 'theia-cloud.io/sidecar';
export const WORKSPACE_LABEL = 'theia-cloud.io/workspace-name';

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

const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

/**
 * The labels that tie a Service or a route to a Session, as the operator makes them. One whose value the API would refuse is left
 * out: a name may end in what no label may end in.
 */
export function sessionLabels(session: KubeObject): Readonly<Record<string, string>> {
  const { name = '', appDefinition = '', user = '' } = (session['spec'] ?? {}) as SessionSpec;
  const labels = {
    'app.kubernetes.io/component': 'session',
    'app.kubernetes.io/part-of': 'theia-cloud',
    'theia-cloud.io/user': user
      .replaceAll('@', '_at_')
      .replaceAll(/[^a-zA-Z0-9]/g, '_')
      .slice(0, 63),
    [APP_DEFINITION_LABEL]: appDefinition.slice(0, 63),
    'theia-cloud.io/session': name.slice(0, 63),
    'theia-cloud.io/session-uuid': session.metadata.uid ?? '',
  };
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => LABEL_VALUE.test(value)));
}

interface SessionSpec {
  readonly name?: string;
  readonly appDefinition?: string;
  readonly user?: string;
}
