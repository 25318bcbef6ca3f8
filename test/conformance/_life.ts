import type { Chance } from './_chance.ts';
import { KINDS, type Kind } from './_kinds.ts';
import type { Step } from './_program.ts';
import {
  create,
  createBelow,
  edit,
  get,
  list,
  type More,
  objectOf,
  patch,
  remove,
  removeAll,
  update,
} from './_requests.ts';

/** The life of a few objects of one kind: made, read, changed in every way and deleted, in no order at all. */
export function life(chance: Chance, kind: Kind = chance.one(KINDS)): readonly Step[] {
  const steps: Step[] = [create(kind, named(kind, 'a', chance), kind.dry === true ? DRY : {})];
  const moves = movesFor(kind);
  const length = chance.whole(5, 9);
  for (let index = 0; index < length; index += 1) steps.push(...chance.weighted(moves)(kind, chance));
  return steps;
}

type Fields = Readonly<Record<string, unknown>>;
type Move = (kind: Kind, chance: Chance) => readonly Step[];

/** Objects outside of namespaces must not meet those of other programs. */
const nameOf = (kind: Kind, name: string) => (kind.clusterScoped === true ? `{ns}-${name}` : name);

const METADATA: readonly Fields[] = [
  { labels: { app: 'a' } },
  { labels: { app: 'b', 'example.org/tier': 'web' } },
  { annotations: { note: 'x', 'Example.org/note': '' } },
  { finalizers: ['example.org/hold'] },
  { finalizers: ['example.org/hold', 'example.org/more'] },
  { labels: {} },
  { annotations: {} },
  {},
];
const ODD_METADATA: readonly Fields[] = [
  { labels: { app: 'not a value' } },
  { labels: { 'not a key': 'x' } },
  { labels: { 'a/b/c': 'x' } },
  { labels: { app: 'x'.repeat(64) } },
  { labels: { app: 1 } },
  { labels: ['app'] },
  { annotations: { 'not a key': 'x' } },
  { annotations: { note: true } },
  { finalizers: ['not a name'] },
  { finalizers: 'hold' },
  { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x' }] },
  { ownerReferences: [{ kind: 'ConfigMap', name: 'x', uid: '00000000-0000-4000-8000-00000000000a' }] },
  {
    ownerReferences: ['a', 'b'].map((name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid: `00000000-0000-4000-8000-00000000000${name}`,
      controller: true,
    })),
  },
  { bogus: 1 },
  { uid: 'my-own', creationTimestamp: '2020-01-01T00:00:00Z', generation: 7 },
  { namespace: 'elsewhere' },
  { resourceVersion: '5' },
];
const ODD_NAMES = ['Upper', 'under_score', '-dash', 'a..b', 'x'.repeat(254), '1', 'slash%2Fed'];

function named(kind: Kind, name: string, chance: Chance, ...changes: readonly Fields[]): Fields {
  return objectOf(kind, nameOf(kind, name), { metadata: chance.one(METADATA) }, ...changes);
}

const anyName = (kind: Kind, chance: Chance) =>
  nameOf(
    kind,
    chance.weighted([
      [6, 'a'],
      [2, 'b'],
    ]),
  );

const NOTHING: More = {};
const BROKEN = '{"a":';
const DRY = { query: 'dryRun=All' };
const VALIDATIONS = [
  'fieldValidation=Strict',
  'fieldValidation=Ignore',
  'fieldValidation=Warn',
  'fieldValidation=Nope',
];

const creates: Move = (kind, chance) => {
  const name = chance.weighted([
    [2, 'a'],
    [2, 'b'],
    [1, 'c'],
  ]);
  const change = chance.one(kind.changes);
  if (kind.dry === true) return [create(kind, named(kind, name, chance, change), DRY)];
  const more = chance.weighted([
    [5, NOTHING],
    [2, DRY],
    [1, { query: 'dryRun=Some' }],
    [1, { query: chance.one(VALIDATIONS) }],
  ]);
  return [create(kind, named(kind, name, chance, change), more)];
};

const oddCreates: Move = (kind, chance) => {
  const odd = chance.one(kind.oddities);
  const more = chance.weighted([
    [4, NOTHING],
    [1, DRY],
    [3, { query: chance.one(VALIDATIONS) }],
  ]);
  return [create(kind, named(kind, chance.one(['b', 'd']), chance, odd), more)];
};

const oddMetadata: Move = (kind, chance) => {
  const body = objectOf(kind, nameOf(kind, 'e'), { metadata: chance.one(ODD_METADATA) });
  return [
    create(kind, body, chance.yes(0.2) ? { query: 'fieldValidation=Strict' } : kind.dry === true ? DRY : {}),
  ];
};

const oddNames: Move = (kind, chance) => {
  const name = chance.one(ODD_NAMES);
  return [
    create(
      kind,
      objectOf(kind, name.includes('x') ? name : nameOf(kind, name), {
        metadata: chance.one([{}, {}, { generateName: 'gen-' }]),
      }),
      DRY,
    ),
  ];
};

const generated: Move = (kind, chance) => {
  const generateName = chance.one(['gen-', 'gen-x-', `gen-${'y'.repeat(70)}-`, 'Gen-', '']);
  const { metadata: _, ...rest } = objectOf(kind, '');
  return [
    create(kind, { ...rest, metadata: { generateName } }, chance.yes(0.5) || kind.dry === true ? DRY : {}),
  ];
};

const unnamed: Move = (kind, chance) => {
  const { metadata: _, ...rest } = objectOf(kind, '');
  const body = objectOf(kind, nameOf(kind, 'f'));
  const { apiVersion: __, kind: ___, ...bare } = body;
  return [
    create(
      kind,
      chance.one<unknown>([
        rest,
        bare,
        ...(kind.custom === true ? [] : [{ ...body, apiVersion: 'g.dev/v9' }]),
        ...(kind.custom === true && kind.plural !== 'widgets' ? [] : [{ ...body, kind: 'Other' }]),
        { ...body, metadata: 'none' },
        { ...body, metadata: null },
        BROKEN,
        '',
        ...(kind.custom === true || kind.plural === 'services' ? [] : ['null']),
      ]),
    ),
  ];
};

const gets: Move = (kind, chance) => [
  get(kind, chance.one([nameOf(kind, 'a'), nameOf(kind, 'nowhere'), anyName(kind, chance)]), {
    ...chance.weighted([
      [5, NOTHING],
      [2, { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }],
      [2, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json' } }],
      [1, { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } }],
      [1, { query: 'resourceVersion=abc' }],
    ]),
    ...(kind.status === true && chance.yes(0.15) ? { subresource: 'status' } : {}),
  }),
];

const lists: Move = (kind, chance) => {
  const form = chance.weighted([
    [4, {}],
    [1, { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } }],
    [1, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json' } }],
    [1, { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }],
  ]);
  const own = kind.clusterScoped === true ? [`fieldSelector=metadata.name%3D{ns}-a`] : SELECTIONS;
  return [list(kind, { ...form, query: chance.one(own) })];
};
const SELECTIONS = [
  '',
  '',
  'labelSelector=app%3Da',
  'labelSelector=app!%3Da',
  'fieldSelector=metadata.name%3Da',
  'fieldSelector=metadata.name!%3Da',
  'limit=1',
];

/** PUT: of a new object, of the one seen last, guarded, stale, under a wrong name or uid. */
const updates: Move = (kind, chance) => {
  const name = anyName(kind, chance);
  const key = `${kind.plural}/${masked(name)}`;
  const change = chance.weighted([
    [3, chance.one(kind.changes)],
    [1, chance.one(kind.oddities)],
    [2, { metadata: chance.one(METADATA) }],
    [1, { metadata: chance.one(ODD_METADATA) }],
    [2, {}],
  ]);
  const more = chance.weighted([
    [6, NOTHING],
    [1, DRY],
    [1, { query: chance.one(VALIDATIONS) }],
  ]);
  const body = objectOf(kind, name, change);
  const guarded = (metadata: Fields) => update(kind, name, objectOf(kind, name, change, { metadata }), more);
  return [
    chance.weighted([
      [6, edit(kind, masked(name), change, more === NOTHING ? more : DRY)],
      [2, update(kind, name, body, more)],
      [2, guarded({ resourceVersion: `{rv:${key}}` })],
      [2, guarded({ resourceVersion: `{rv0:${key}}` })],
      [1, guarded({ resourceVersion: `{rv:${key}}`, uid: `{uid:${key}}` })],
      [1, guarded({ resourceVersion: `{rv:${key}}`, uid: '00000000-0000-4000-8000-00000000000a' })],
      [1, guarded({ resourceVersion: 'abc' })],
      [1, guarded({ resourceVersion: '0' })],
      [1, guarded({ name: 'other' })],
      [1, guarded({ name: null })],
    ]),
  ];
};

/** How the memory of a run calls an object. */
const masked = (name: string) => name;

const merges: Move = (kind, chance) => {
  const name = anyName(kind, chance);
  const key = `${kind.plural}/${name}`;
  const body = chance.weighted<unknown>([
    [4, chance.one(kind.changes)],
    [2, chance.one(kind.oddities)],
    [3, { metadata: chance.one(METADATA) }],
    [2, { metadata: chance.one(ODD_METADATA) }],
    [1, {}],
    [1, { metadata: { labels: { app: null } } }],
    [1, { metadata: { labels: null, annotations: null } }],
    [1, { metadata: { finalizers: null } }],
    [1, { metadata: { finalizers: [] } }],
    [1, { metadata: { resourceVersion: `{rv:${key}}`, annotations: { n: '1' } } }],
    [1, { metadata: { resourceVersion: `{rv0:${key}}`, annotations: { n: '2' } } }],
    [1, { metadata: { resourceVersion: null } }],
    [1, { metadata: { uid: `{uid:${key}}`, labels: { z: '1' } } }],
    [1, { metadata: { uid: '00000000-0000-4000-8000-00000000000a' } }],
    [1, { metadata: { name: 'other' } }],
    [1, { metadata: { deletionTimestamp: null } }],
    [1, []],
    [1, BROKEN],
  ]);
  return [
    patch('merge', kind, name, body, body === BROKEN || Array.isArray(body) ? NOTHING : patchMore(chance)),
  ];
};

const patchMore = (chance: Chance) =>
  chance.weighted([
    [7, NOTHING],
    [1, DRY],
    [1, { query: chance.one(VALIDATIONS) }],
    [0.5, { query: 'force=true' }],
    [0.5, { query: 'fieldManager=me' }],
  ]);

const jsonPatches: Move = (kind, chance) => {
  const name = anyName(kind, chance);
  const key = `${kind.plural}/${name}`;
  const test = (path: string, value: unknown) => ({ op: 'test', path, value });
  const note = { op: 'add', path: '/metadata/annotations', value: { n: '3' } };
  const body = chance.one<unknown>([
    [note],
    [test('/metadata/resourceVersion', `{rv:${key}}`), note],
    [test('/metadata/resourceVersion', `{rv0:${key}}`), note],
    [test('/metadata/uid', `{uid:${key}}`), { op: 'add', path: '/metadata/labels', value: { x: '1' } }],
    [{ op: 'add', path: '/metadata/labels/x', value: 'y' }],
    [{ op: 'replace', path: '/metadata/labels/app', value: 'z' }],
    [{ op: 'remove', path: '/metadata/labels/app' }],
    [{ op: 'remove', path: '/metadata/labels' }],
    [test('/metadata/labels/none', null)],
    [test('/metadata/none/none', null)],
    [{ op: 'replace', path: '/metadata/resourceVersion', value: `{rv0:${key}}` }],
    [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.org/late' }],
    [{ op: 'add', path: '/metadata/finalizers', value: ['example.org/hold'] }],
    [{ op: 'remove', path: '/metadata/finalizers/0' }],
    [{ op: 'remove', path: '/metadata/finalizers' }],
    [
      { op: 'test', path: '/metadata/finalizers/0', value: 'example.org/hold' },
      { op: 'remove', path: '/metadata/finalizers/0' },
    ],
    [{ op: 'copy', from: '/metadata/name', path: '/metadata/annotations/n' }],
    [{ op: 'move', from: '/metadata/labels/app', path: '/metadata/labels/moved' }],
    [{ op: 'replace', path: '/metadata/name', value: 'other' }],
    [{ op: 'jump', path: '/metadata' }],
    [{ op: 'add', path: '/bogus', value: 1 }],
    [{ op: 'replace', path: '/spec', value: null }],
    [{ op: 'add', path: '/metadata/labels', value: 'x' }],
    [{ path: '/metadata/labels' }],
    [],
    {},
    BROKEN,
  ]);
  return [patch('json', kind, name, body, body === BROKEN ? NOTHING : patchMore(chance))];
};

const strategics: Move = (kind, chance) => {
  const name = anyName(kind, chance);
  const main = { name: 'main', image: 'web:3' };
  const template = (spec: unknown) => (kind.plural === 'pods' ? { spec } : { spec: { template: { spec } } });
  const body = chance.one<unknown>([
    ...kind.changes,
    { metadata: chance.one(METADATA) },
    { metadata: { labels: { y: 'z' } } },
    { metadata: { finalizers: ['example.org/strategic'] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.org/hold'] } },
    { metadata: { ownerReferences: [] } },
    { metadata: { annotations: null } },
    template({ containers: [main] }),
    template({ containers: [{ name: 'main', env: [{ name: 'B', $patch: 'delete' }] }] }),
    template({
      containers: [{ name: 'main', env: [{ name: 'E', value: 'e' }] }],
      '$setElementOrder/containers': [{ name: 'main' }],
    }),
    template({ containers: [{ name: 'side', image: 'side:1' }] }),
    template({ containers: [{ $patch: 'replace' }, main] }),
    template({ containers: [{ image: 'nameless' }] }),
    ...(kind.plural === 'deployments'
      ? [{ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }]
      : []),
    {
      spec: {
        ports: [
          { port: 80, name: 'http' },
          { port: 82, name: 'more' },
        ],
      },
    },
    { data: { $patch: 'replace', a: 'MQ==' } },
    { $patch: 'delete' },
  ]);
  return [patch('strategic', kind, name, body, body === BROKEN ? NOTHING : patchMore(chance))];
};

const statusWrites: Move = (kind, chance) => {
  const name = anyName(kind, chance);
  const body = chance.weighted<Fields>([
    [6, chance.one(kind.statuses ?? [{}])],
    [1, { metadata: { labels: { late: 'x' } } }],
    [
      1,
      { metadata: { resourceVersion: `{rv0:${kind.plural}/${name}}` }, ...chance.one(kind.statuses ?? [{}]) },
    ],
  ]);
  const more = {
    subresource: 'status',
    ...chance.weighted([
      [6, NOTHING],
      [1, DRY],
    ]),
  };
  return [chance.yes(0.5) ? patch('merge', kind, name, body, more) : edit(kind, name, body, more)];
};

const scales: Move = (kind, chance) => {
  const name = anyName(kind, chance);
  const more = { subresource: 'scale' };
  return [
    chance.weighted([
      [2, get(kind, name, more)],
      [2, patch('merge', kind, name, { spec: { replicas: chance.fresh() } }, more)],
      [1, patch('merge', kind, name, { spec: { replicas: chance.one<unknown>([-1, 500, 'x']) } }, more)],
      [
        1,
        patch('json', kind, name, [{ op: 'replace', path: '/spec/replicas', value: chance.fresh() }], more),
      ],
      [
        1,
        update(
          kind,
          name,
          {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name },
            spec: { replicas: chance.fresh() },
          },
          more,
        ),
      ],
      [
        1,
        update(
          kind,
          name,
          {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name, resourceVersion: `{rv0:${kind.plural}/${name}}` },
            spec: { replicas: chance.fresh() },
          },
          more,
        ),
      ],
      ...(kind.custom === true ? [] : [[1, createBelow(kind, name, {}, more)] as const]),
    ]),
  ];
};

const removes: Move = (kind, chance) => {
  const name = anyName(kind, chance);
  const key = `${kind.plural}/${name}`;
  const options = chance.weighted<Fields | undefined>([
    [4, undefined],
    [2, {}],
    [1, { preconditions: { uid: `{uid:${key}}` } }],
    [1, { preconditions: { uid: '00000000-0000-4000-8000-00000000000a' } }],
    [1, { preconditions: { resourceVersion: `{rv:${key}}` } }],
    [1, { preconditions: { resourceVersion: `{rv0:${key}}`, uid: `{uid:${key}}` } }],
    [1, { propagationPolicy: 'Background' }],
    [1, { propagationPolicy: 'Later' }],
    [0.5, { propagationPolicy: 'Orphan', orphanDependents: true }],
    [1, { dryRun: ['All'] }],
    [0.5, { dryRun: ['Some'] }],
    [1, { gracePeriodSeconds: 0 }],
    [0.5, { gracePeriodSeconds: 'x' }],
    [0.5, { bogus: 1 }],
  ]);
  const body = options === undefined ? undefined : { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
  const query = chance.weighted([
    [6, undefined],
    [1, 'propagationPolicy=Background'],
    [1, 'dryRun=All'],
    [0.5, 'propagationPolicy=Later'],
  ]);
  return [remove(kind, name, body, query === undefined ? {} : { query })];
};

const collections: Move = (kind, chance) => {
  if (kind.clusterScoped === true) return [];
  return [
    removeAll(kind, undefined, {
      query: chance.one([
        '',
        'labelSelector=app%3Da',
        'fieldSelector=metadata.name%3Db',
        'dryRun=All',
        'labelSelector=%3D',
        'labelSelector=a+in+(b',
        'labelSelector=app+in+(a,b)',
        'labelSelector=app,,x',
      ]),
    }),
  ];
};

function movesFor(kind: Kind): readonly (readonly [number, Move])[] {
  return [
    [5, creates],
    [4, oddCreates],
    [2, oddMetadata],
    [1, oddNames],
    [1, generated],
    [1, unnamed],
    [3, gets],
    [3, lists],
    [6, updates],
    [6, merges],
    [5, jsonPatches],
    [kind.custom === true ? 0.3 : 4, strategics],
    [kind.status === true || kind.custom === true ? 4 : 0, statusWrites],
    [kind.scale === true || kind.custom === true ? 3 : 0.2, scales],
    [6, removes],
    [1, collections],
  ];
}
