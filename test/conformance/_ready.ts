import type { Clock } from '../../src/clock.ts';
import { DEFINITIONS } from './_definitions.ts';
import { KINDS, placeOf } from './_kinds.ts';
import type { Program } from './_program.ts';
import { create, objectOf } from './_requests.ts';
import { makeNamespace, run } from './_run.ts';
import type { Wire } from './_wire.ts';

const PLACE = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Installs the kinds of the programs and waits until the server and its collector know them. */
export async function makeReady(wire: Wire, clock: Clock): Promise<void> {
  for (const definition of DEFINITIONS) {
    const headers = { 'content-type': 'application/json' };
    const made = await wire.send({ method: 'POST', path: PLACE, headers, body: JSON.stringify(definition) });
    if (made.status !== 201) throw new Error(`${definition.metadata.name}: ${made.status} ${made.text}`);
  }
  await makeNamespace(wire, 'ready');
  const said = await run(wire, clock, readiness(), 'ready');
  const late = said.find(({ code }) => code === 0);
  if (late !== undefined) throw new Error(`not ready: ${JSON.stringify(late.body)}`);
}

/** The collector learns of a new kind within half a minute; then it takes an object whose owner never was. */
function readiness(): Program {
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '00000000-0000-4000-8000-0000000000ff' },
  ];
  const kinds = KINDS.filter(({ custom, clusterScoped }) => custom === true && clusterScoped !== true);
  return {
    name: 'ready',
    steps: [
      ...DEFINITIONS.map(({ metadata: { name } }) => {
        return { do: 'wait', kind: 'definitions', path: PLACE, name, until: 'established' } as const;
      }),
      ...kinds.map((kind) => create(kind, objectOf(kind, 'orphan', { metadata: { ownerReferences } }))),
      ...kinds.map((kind) => {
        return { do: 'wait', kind: kind.plural, path: placeOf(kind), name: 'orphan', until: 'gone' } as const;
      }),
    ],
  };
}
