/** Labels that Educates puts on what it makes. */
export const PORTAL_NAME_LABEL = 'training.educates.dev/portal.name';
export const PORTAL_UID_LABEL = 'training.educates.dev/portal.uid';
/** Alias or name of the entry; on environments since release 3.6.1. */
export const ENTRY_LABEL = 'training.educates.dev/portal.workshop';
export const COMPONENT_LABEL = 'training.educates.dev/component';

/** Whose a session is, where Everwarm itself has handed it out. */
export const OWNER_ANNOTATION = 'everwarm.dev/owner';

/** On a portal: its entries that are being re-admitted, and stand nowhere else meanwhile. */
export const DROPPED_ANNOTATION = 'everwarm.dev/dropped';

const PROGRESS_ANNOTATION = /^kopf\.zalando\.org\/\w+_create$/;

/** Where session-manager notes how far it has got with an object, and why it failed last. */
export function isProgress(annotation: string): boolean {
  return PROGRESS_ANNOTATION.test(annotation);
}

const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Whether Kubernetes takes `text` for the value of a label. */
export function isLabelValue(text: string): boolean {
  return LABEL_VALUE.test(text);
}
