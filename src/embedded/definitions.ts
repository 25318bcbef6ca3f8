import type { KubeObject } from '../kube/api.ts';
import type { Core, Target } from './core.ts';
import { kindOfDefinition } from './custom-kind.ts';
import { type Json, list, record, text } from './json.ts';
import { kindKey } from './kind.ts';
import { notImplemented } from './status.ts';

/** Whether a request is about CustomResourceDefinitions, which change what the server serves. */
export function isDefinition(target: Pick<Target, 'kind'>): boolean {
  return kindKey(target.kind.resource) === 'apiextensions.k8s.io/customresourcedefinitions';
}

/** A CustomResourceDefinition with the names and the status that the server gives it. */
export function prepareDefinition(core: Core, target: Target, object: KubeObject): KubeObject {
  if (!isDefinition(target)) return object;
  const spec = record(object['spec']);
  const names = record(spec['names']);
  const kind = text(names['kind']) ?? '';
  const accepted = {
    ...names,
    singular: text(names['singular']) ?? kind.toLowerCase(),
    listKind: text(names['listKind']) ?? `${kind}List`,
  };
  const versions = list(spec['versions']).map(record);
  const storage = versions.find((version) => version['storage'] === true);
  const status = {
    acceptedNames: accepted,
    conditions: [
      condition(core, 'NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition(core, 'Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
    storedVersions: storage === undefined ? [] : [String(storage['name'])],
  };
  return { ...object, spec: { ...spec, names: accepted }, status } as KubeObject;
}

function condition(core: Core, type: string, reason: string, message: string): Json {
  return { lastTransitionTime: core.timestamp(), message, reason, status: 'True', type };
}

/** A definition may go only when nothing of its kind is left: this server does not clean up after it. */
export function checkDefinitionDelete(core: Core, definition: KubeObject): void {
  const { resource } = kindOfDefinition(definition);
  const kind = core.registry.get(resource.group, resource.plural);
  if (kind === undefined || core.objects(kind).length === 0) return;
  throw notImplemented(`deleting a CustomResourceDefinition while there are ${kindKey(resource)} objects`);
}
