import type { Resource } from '../../kube/api.ts';

/** The API group of Educates' kinds, as every release since 3.6 has it. */
export const GROUP = 'training.educates.dev';

/** The kinds that this platform reads, as their URLs name them. None of them belongs to a namespace. */
export const TRAINING_PORTALS = kind('TrainingPortal', 'trainingportals');
export const WORKSHOPS = kind('Workshop', 'workshops');
export const WORKSHOP_ENVIRONMENTS = kind('WorkshopEnvironment', 'workshopenvironments');
export const WORKSHOP_SESSIONS = kind('WorkshopSession', 'workshopsessions');
export const WORKSHOP_ALLOCATIONS = kind('WorkshopAllocation', 'workshopallocations');

export const SECRETS: Resource = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

function kind(name: string, plural: string): Resource {
  return { group: GROUP, version: 'v1beta1', kind: name, plural, namespaced: false };
}
