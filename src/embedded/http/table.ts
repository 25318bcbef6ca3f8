import type { KubeObject } from '../../kube/api.ts';
import type { Target } from '../core.ts';
import type { Column } from '../kind.ts';

/** How much of each object a table carries: `?includeObject=`. */
export type Included = 'Metadata' | 'Object' | 'None';

/** Objects as a Table, one row each. `metadata` is the list's; the tables of a watch have titles only once. */
export function tableOf(
  target: Target,
  objects: readonly KubeObject[],
  metadata: unknown,
  included: Included,
  now: number,
  titled = true,
): unknown {
  const { columns } = target.version;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: titled ? columns.map(definition) : null,
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now) ?? null),
      object: includedObject(object, included),
    })),
  };
}

function definition({ name, type, format = '', description, priority = 0 }: Column): unknown {
  return { name, type, format, description: description ?? '', priority };
}

function includedObject(object: KubeObject, included: Included): unknown {
  if (included === 'None') return null;
  return included === 'Object' ? object : partial(object);
}

/** The metadata of an object alone. */
export function partial(object: KubeObject): KubeObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: object.metadata,
  };
}
