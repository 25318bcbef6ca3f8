import type { Chance } from './_chance.ts';
import { KINDS, type Kind, kindOf, placeOf } from './_kinds.ts';
import { life } from './_life.ts';
import type { CloseWatch, OpenWatch, Program, Step, Wait } from './_program.ts';
import { create, edit, get, list, objectOf, patch, remove, removeAll, update } from './_requests.ts';

/** A sort of programs, and how many of a hundred are of it. */
export interface Theme {
  readonly name: string;
  readonly share: number;
  readonly steps: (chance: Chance) => readonly Step[];
}

const NAMESPACED = KINDS.filter(({ clusterScoped }) => clusterScoped !== true);
/** Kinds whose objects need nothing and cost nothing. */
const LIGHT = ['configmaps', 'secrets', 'widgets', 'plains', 'leases', 'warmpools', 'appdefinitions'].map(
  kindOf,
);
const [CONFIG_MAPS, WIDGETS, PLAINS, PODS, NAMESPACES] = [
  kindOf('configmaps'),
  kindOf('widgets'),
  kindOf('plains'),
  kindOf('pods'),
  kindOf('namespaces'),
];
const ABSENT = '00000000-0000-4000-8000-0000000000ff';

const open = (kind: Kind, query: string, headers?: OpenWatch['headers']): OpenWatch => ({
  do: 'open',
  kind: kind.plural,
  path: `${placeOf(kind)}?watch=1&${query}`,
  ...(headers === undefined ? {} : { headers }),
});
const close = (kind: Kind, query: string, until?: string): CloseWatch => ({
  do: 'close',
  kind: kind.plural,
  path: `${placeOf(kind)}?watch=1&${query}`,
  ...(until === undefined ? {} : { until }),
});
const wait = (kind: Kind, name: string, until: Wait['until']): Wait => ({
  do: 'wait',
  kind: kind.plural,
  path: placeOf(kind),
  name,
  until,
});
const labelled = (kind: Kind, name: string, app: string) =>
  objectOf(kind, name, { metadata: { labels: { app } } });

/** Lists by page, by selector, in every form, at every resourceVersion. */
function lists(chance: Chance): readonly Step[] {
  const kind = chance.one(LIGHT);
  const names = ['a', 'b', 'b-1', 'b.1', 'b0', 'c'].slice(0, chance.whole(3, 6));
  const made = names.map((name, index) =>
    create(kind, labelled(kind, name, index % 2 === 0 ? 'even' : 'odd')),
  );
  const size = chance.whole(1, 3);
  const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json' };
  const partial = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
  const queries = [
    'labelSelector=app%3Deven',
    'labelSelector=app%3D%3Dodd,!other',
    'labelSelector=app+notin+(even)',
    'labelSelector=app+in+(odd,none)',
    'labelSelector=app',
    'labelSelector=!app',
    'fieldSelector=metadata.name%3Db',
    'fieldSelector=metadata.name!%3Db',
    'fieldSelector=metadata.namespace%3D{ns}',
    'fieldSelector=metadata.namespace%3Delsewhere',
    'fieldSelector=data.a%3D1',
    'fieldSelector=nonsense',
    'labelSelector=a+in+b',
    'labelSelector=a%3Db%3Dc',
    'labelSelector=a%3D*',
    `limit=${size}&labelSelector=app`,
    'limit=x',
    'limit=-1',
    'resourceVersion=abc',
    'resourceVersion={rv0:configmaps/none}',
    'resourceVersion={listrv}&resourceVersionMatch=NotOlderThan',
    'resourceVersionMatch=Exact',
    'resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersion={listrv}&resourceVersionMatch=Bogus',
    'continue=garbage',
    'sendInitialEvents=true',
    'unknown=parameter',
  ];
  const asked = Array.from({ length: 4 }, () => {
    const headers = chance.weighted([
      [4, undefined],
      [1, table],
      [1, partial],
    ]);
    return list(kind, { query: chance.one(queries), ...(headers === undefined ? {} : { headers }) });
  });
  const paged = (query: string) => list(kind, { query: `limit=${size}&continue={continue}${query}` });
  return [
    ...made,
    list(kind, { query: `limit=${size}` }),
    chance.yes(0.5) ? create(kind, objectOf(kind, 'bb')) : remove(kind, 'b'),
    paged(''),
    ...(chance.yes(0.3) ? [list(kind, { query: `continue={continue}&resourceVersion={listrv}` })] : []),
    list(kind, { query: 'continue={continue}', ...(chance.yes(0.3) ? { headers: table } : {}) }),
    ...asked,
  ];
}

/** What a watch tells of a few changes, from every beginning and in every form. */
function watches(chance: Chance): readonly Step[] {
  const kind = chance.one(LIGHT);
  const beginning = chance.weighted([
    [2, ''],
    [2, 'resourceVersion={listrv}'],
    [1, 'resourceVersion={listrv}&allowWatchBookmarks=true'],
    [2, 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'],
    [1, 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'],
    [1, 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={listrv}'],
    [1, 'limit=1'],
  ]);
  const selection = chance.weighted([
    [3, ''],
    [2, '&labelSelector=app%3Da'],
    [1, '&labelSelector=app!%3Db'],
    [1, '&fieldSelector=metadata.name!%3Db'],
  ]);
  const headers = chance.weighted<OpenWatch['headers']>([
    [5, undefined],
    [1, { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }],
    [beginning.includes('Bookmarks') ? 0 : 1, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }],
  ]);
  const query = `${beginning}${selection}`;
  const changes = Array.from({ length: chance.whole(2, 6) }, (): Step => {
    const name = chance.one(['a', 'b']);
    return chance.weighted<Step>([
      [2, patch('merge', kind, name, { metadata: { labels: { app: chance.one(['a', 'b']) } } })],
      [2, patch('merge', kind, name, { metadata: { annotations: { n: String(chance.fresh()) } } })],
      [1, patch('merge', kind, name, { metadata: { finalizers: ['example.org/hold'] } })],
      [1, patch('merge', kind, name, { metadata: { finalizers: null } })],
      [1, patch('merge', kind, name, {})],
      [2, remove(kind, name)],
      [2, create(kind, labelled(kind, name, 'a'))],
      [1, edit(kind, name, chance.one(kind.changes))],
    ]);
  });
  return [
    create(kind, labelled(kind, 'a', 'a')),
    ...(chance.yes(0.5) ? [create(kind, labelled(kind, 'b', 'b'))] : []),
    list(kind),
    open(kind, query, headers),
    ...changes,
    create(kind, labelled(kind, 'z-end', 'a')),
    close(kind, query, 'z-end'),
  ];
}

/** Watches that cannot be, that are too old or too new, and that the server ends. */
function oddWatches(chance: Chance): readonly Step[] {
  const kind = chance.one([CONFIG_MAPS, WIDGETS, PLAINS]);
  const refused = [
    'resourceVersion=abc',
    'resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=true',
    'sendInitialEvents=true&resourceVersionMatch=Exact',
    'labelSelector=a+in+b',
    'timeoutSeconds=x',
  ];
  const query = chance.one(refused);
  const ended = chance.one([
    'timeoutSeconds=1',
    'timeoutSeconds=1&resourceVersion=999999999',
    'timeoutSeconds=1&fieldSelector=metadata.name%3Dnowhere',
  ]);
  const old = 'resourceVersion=1';
  return [
    create(kind, objectOf(kind, 'a')),
    open(kind, query),
    open(kind, ended),
    close(kind, ended),
    ...(kind.custom === true ? [open(WIDGETS, old), close(WIDGETS, old)] : []),
    { ...get(kind, 'a', { query: 'watch=1' }) },
    { ...list(kind, { query: 'watch=0' }) },
  ];
}

/** The names of what may own something, as the API names them. */
function owner(kind: Kind, name: string, uid = `{uid:${kind.plural}/${name}}`, more: object = {}) {
  return { apiVersion: kind.apiVersion, kind: kind.kind, name, uid, ...more };
}

/** Objects whose owners go, were never there, are elsewhere, or are two. */
function owners(chance: Chance): readonly Step[] {
  const [parent, child] = [chance.one([CONFIG_MAPS, WIDGETS, PLAINS]), chance.one(LIGHT)];
  const owned = (name: string, references: readonly object[], more: object = {}) =>
    create(child, objectOf(child, name, { metadata: { ownerReferences: references, ...more } }));
  const begin = [create(parent, objectOf(parent, 'one')), create(parent, objectOf(parent, 'two'))];
  const policy = chance.one(['Background', 'Foreground', 'Orphan']);
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: policy };
  const blocking = chance.yes(0.7) ? { blockOwnerDeletion: true } : {};
  const stays = { apiVersion: 'nowhere.example.org/v1', kind: 'Nothing', name: 'x', uid: ABSENT };
  return chance.one<() => readonly Step[]>([
    // The only owner goes.
    () => [
      ...begin,
      owned('kid', [owner(parent, 'one', undefined, blocking)]),
      remove(parent, 'one', options),
      wait(child, 'kid', policy === 'Orphan' ? 'no owner' : 'gone'),
      wait(parent, 'one', 'gone'),
      get(child, 'kid'),
      get(parent, 'one'),
    ],
    // A child that is held holds its owner, if the owner waits for it.
    () => [
      ...begin,
      owned('kid', [owner(parent, 'one', undefined, { blockOwnerDeletion: true })], {
        finalizers: ['example.org/hold'],
      }),
      remove(parent, 'one', { ...options, propagationPolicy: 'Foreground' }),
      wait(child, 'kid', 'terminating'),
      get(parent, 'one'),
      get(child, 'kid'),
      patch('merge', child, 'kid', { metadata: { finalizers: null } }),
      wait(parent, 'one', 'gone'),
      get(child, 'kid'),
    ],
    // One of two owners goes, then the other.
    () => [
      ...begin,
      owned('kid', [owner(parent, 'one'), owner(parent, 'two')]),
      remove(parent, 'one'),
      wait(child, 'kid', 'one owner'),
      get(child, 'kid'),
      remove(parent, 'two'),
      wait(child, 'kid', 'gone'),
    ],
    // Nobody has that uid.
    () => [owned('kid', [owner(parent, 'ghost', ABSENT)]), wait(child, 'kid', 'gone'), get(child, 'kid')],
    // The name is there, the uid is another's.
    () => [...begin, owned('kid', [owner(parent, 'one', ABSENT)]), wait(child, 'kid', 'gone')],
    // One owner is real.
    () => [
      ...begin,
      owned('kid', [owner(parent, 'ghost', ABSENT), owner(parent, 'one')]),
      wait(child, 'kid', 'one owner'),
      get(child, 'kid'),
    ],
    // The owner is in another namespace.
    () => [
      {
        ...create(CONFIG_MAPS, { metadata: { name: '{ns}' } }),
        path: '/api/v1/namespaces/default/configmaps',
      },
      owned('kid', [owner(CONFIG_MAPS, '{ns}')]),
      wait(child, 'kid', 'gone'),
    ],
    // Nobody knows the owner's kind; a later ghost's child shows that the collector has been there.
    () => [
      owned('kid', [stays]),
      owned('late', [owner(parent, 'ghost', ABSENT)]),
      wait(child, 'late', 'gone'),
      get(child, 'kid'),
    ],
    // A cluster-scoped owner.
    () => [
      create(kindOf('realms'), objectOf(kindOf('realms'), '{ns}-r')),
      owned('kid', [owner(kindOf('realms'), '{ns}-r')]),
      get(child, 'kid'),
      remove(kindOf('realms'), '{ns}-r'),
      wait(child, 'kid', 'gone'),
    ],
    // An owner whose policy changes while it waits.
    () => [
      ...begin,
      owned('kid', [owner(parent, 'one', undefined, { blockOwnerDeletion: true })], {
        finalizers: ['example.org/hold'],
      }),
      remove(parent, 'one', { ...options, propagationPolicy: 'Foreground' }),
      remove(parent, 'one', { ...options, propagationPolicy: 'Background' }),
      wait(parent, 'one', 'gone'),
      wait(child, 'kid', 'terminating'),
      patch('merge', child, 'kid', { metadata: { finalizers: null } }),
    ],
  ])();
}

/** A namespace that goes: what may still be done in it, and what holds it. */
function namespaces(chance: Chance): readonly Step[] {
  const kind = chance.one([CONFIG_MAPS, WIDGETS, PODS]);
  const held = chance.yes(0.4);
  const hold = held ? { metadata: { finalizers: ['example.org/hold'] } } : {};
  const other = { ...kind, plural: kind.plural };
  return [
    create(kind, objectOf(kind, 'a', hold)),
    remove(NAMESPACES, '{ns}'),
    get(NAMESPACES, '{ns}'),
    create(kind, objectOf(kind, 'late')),
    create(kind, { ...objectOf(kind, ''), metadata: { generateName: 'gen-' } }),
    create(kind, objectOf(kind, 'dry'), { query: 'dryRun=All' }),
    patch('merge', kind, 'a', { metadata: { labels: { still: 'here' } } }),
    update(kindOf('leases'), 'new', objectOf(kindOf('leases'), 'new')),
    remove(NAMESPACES, '{ns}'),
    ...(held ? [wait(other, 'a', 'terminating')] : [wait(other, 'a', 'gone')]),
    ...(held ? [patch('merge', kind, 'a', { metadata: { finalizers: null } })] : []),
    wait(NAMESPACES, '{ns}', 'gone'),
    get(NAMESPACES, '{ns}'),
    create(kind, objectOf(kind, 'after')),
    get(kind, 'a'),
    list(kind),
  ];
}

/** Namespaces that stay, and requests in one that never was. */
function places(chance: Chance): readonly Step[] {
  const kind = chance.one(NAMESPACED);
  const nowhere = (step: Step): Step =>
    step.do === 'send' ? { ...step, path: step.path.replace('{ns}', '{ns}-none') } : step;
  return [
    remove(NAMESPACES, chance.one(['default', 'kube-system', 'kube-public'])),
    remove(NAMESPACES, '{ns}', { preconditions: { uid: ABSENT } }),
    nowhere(create(kind, objectOf(kind, 'a'))),
    nowhere(get(kind, 'a')),
    nowhere(list(kind)),
    nowhere(remove(kind, 'a')),
    nowhere(patch('merge', kind, 'a', {})),
    patch('merge', NAMESPACES, '{ns}', { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } }),
    removeAll(kind),
  ];
}

/** Whoever may not, and whoever is nobody. */
function callers(chance: Chance): readonly Step[] {
  const kind = chance.one(KINDS);
  const as = chance.one(['anonymous', 'anonymous', 'impostor'] as const);
  const name = kind.clusterScoped === true ? '{ns}-a' : 'a';
  const subresource = kind.status === true ? { subresource: 'status' } : {};
  const steps = [
    get(kind, name),
    get(kind, name, subresource),
    list(kind),
    list(kind, { query: 'watch=1' }),
    create(kind, objectOf(kind, name)),
    update(kind, name, objectOf(kind, name)),
    patch('merge', kind, name, {}, subresource),
    remove(kind, name),
    removeAll(kind),
  ];
  const path = chance.one([
    '/metrics',
    '/api',
    '/apis',
    '/apis/nowhere.example.org/v1',
    '/openapi/v3',
    '/version',
    '/healthz',
  ]);
  const walk = { do: 'send', verb: 'get', kind: 'paths', path } as const;
  return [...steps, walk]
    .filter(() => chance.yes(0.6))
    .filter((step) => as === 'impostor' || !['/version', '/healthz'].includes(step.path))
    .map((step) => ({ ...step, as, ...(step.path.includes('watch=1') ? { verb: 'watch' as const } : {}) }));
}

/** Paths that are not there and methods that do not fit. */
function paths(chance: Chance): readonly Step[] {
  const asked = [
    '/apis/nowhere.example.org/v1/things',
    '/apis/g.dev/v9/namespaces/{ns}/widgets',
    '/apis/g.dev/v1/namespaces/{ns}/gadgets',
    '/api/v1/namespaces/{ns}/gadgets',
    '/api/v1/namespaces/{ns}/gadgets/a',
    '/apis/g.dev/v1/widgets/a',
    '/apis/g.dev/v1/namespaces/{ns}/widgets/a/nothing',
    '/apis/g.dev/v1/namespaces/{ns}/plains/a/status',
    '/apis/g.dev/v1/namespaces/{ns}/plains/a/scale',
    '/api/v1/namespaces/{ns}/configmaps/a/status',
    '/apis/g.dev/v1/realms/{ns}-nowhere',
    '/apis/g.dev/v1/namespaces/{ns}/realms',
    '/nowhere',
  ];
  const steps = Array.from(
    { length: 4 },
    (): Step => ({ do: 'send', verb: 'get', kind: 'paths', path: chance.one(asked) }),
  );
  const kind = chance.one([CONFIG_MAPS, WIDGETS, PODS]);
  const all = placeOf(kind).replace('/namespaces/{ns}', '');
  return [
    create(kind, objectOf(kind, 'a')),
    ...steps,
    { do: 'send', verb: 'create', kind: kind.plural, path: all, body: objectOf(kind, 'b') },
    { do: 'send', verb: 'list', kind: kind.plural, path: `${all}?fieldSelector=metadata.namespace%3D{ns}` },
    get(kind, 'a/'),
  ];
}

/** What a request may be written in and what an answer may be asked for in. */
function media(chance: Chance): readonly Step[] {
  const kind = chance.one([CONFIG_MAPS, WIDGETS]);
  const types = [
    'text/plain;charset=UTF-8',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    '',
    'application/xml',
  ];
  const accepts = [
    '*/*',
    'application/json;charset=utf-8',
    'text/html, application/json;q=0.5',
    'text/html',
    'application/json;as=Bogus;g=meta.k8s.io;v=v1',
    'application/json;stream=watch',
    'application/vnd.kubernetes.protobuf, application/json',
  ].filter((accept) => kind.custom === true || !accept.includes('protobuf'));
  const patches = [
    'application/json',
    'text/plain',
    'application/strategic-merge-patch+json',
    'application/merge-patch+json; charset=utf-8',
    '',
  ];
  return [
    create(kind, objectOf(kind, 'a'), { headers: { 'content-type': chance.one(types) } }),
    create(kind, objectOf(kind, 'b')),
    get(kind, 'b', { headers: { accept: chance.one(accepts) } }),
    get(kind, 'b', { headers: { accept: chance.one(accepts) } }),
    list(kind, { headers: { accept: chance.one(accepts) } }),
    get(kind, 'b', { query: 'pretty=true' }),
    patch(
      'merge',
      kind,
      'b',
      { metadata: { labels: { a: 'b' } } },
      { headers: { 'content-type': chance.one(patches) } },
    ),
    remove(kind, 'b', {}, { headers: { 'content-type': chance.one(types.slice(1, 4)) } }),
  ];
}

/** What the embedded server is known to do otherwise, so that it is noticed when it no longer does. */
function known(chance: Chance): readonly Step[] {
  const quotas = kindOf('resourcequotas');
  const yaml = { headers: { 'content-type': 'application/yaml' } };
  const apply = { headers: { 'content-type': 'application/apply-patch+yaml' }, query: 'fieldManager=me' };
  return [
    create(CONFIG_MAPS, objectOf(CONFIG_MAPS, 'a')),
    list(CONFIG_MAPS),
    create(quotas, objectOf(quotas, 'q')),
    get(quotas, 'q'),
    { ...get(CONFIG_MAPS, 'a'), as: 'nobody' },
    { ...list(WIDGETS), as: 'nobody' },
    get(CONFIG_MAPS, 'a', {
      headers: { accept: chance.one(['application/yaml', 'application/vnd.kubernetes.protobuf']) },
    }),
    patch('merge', CONFIG_MAPS, 'a', { metadata: { labels: { moved: 'on' } } }),
    list(CONFIG_MAPS, { query: 'resourceVersion={rv0:configmaps/a}&resourceVersionMatch=Exact' }),
    chance.one([
      create(CONFIG_MAPS, 'apiVersion: v1', yaml),
      patch('merge', CONFIG_MAPS, 'b', objectOf(CONFIG_MAPS, 'b'), apply),
      get(PODS, 'a', { subresource: 'log' }),
    ]),
  ];
}

/** An object that is going and is held: what may still be done to it. */
function going(kind: Kind): readonly Step[] {
  const hold = { metadata: { finalizers: ['example.org/hold'] } };
  return [
    create(kind, objectOf(kind, 'a', hold)),
    remove(kind, 'a'),
    patch('merge', kind, 'a', { metadata: { finalizers: ['example.org/hold', 'example.org/more'] } }),
    patch('merge', kind, 'a', { metadata: { labels: { still: 'here' } } }),
    create(kind, objectOf(kind, 'a')),
    remove(kind, 'a'),
    patch('json', kind, 'a', [{ op: 'remove', path: '/metadata/finalizers/0' }]),
    get(kind, 'a'),
  ];
}

/** The same for every kind whose objects cost nothing: chance seldom writes it. */
export const GOING: readonly Program[] = LIGHT.map((kind) => {
  return { name: `going ${kind.plural}`, steps: going(kind) };
});

export const THEMES: readonly Theme[] = [
  { name: 'life', share: 66, steps: (chance) => life(chance) },
  { name: 'lists', share: 8, steps: lists },
  { name: 'watches', share: 8, steps: watches },
  { name: 'odd watches', share: 1, steps: oddWatches },
  { name: 'owners', share: 5, steps: owners },
  { name: 'namespaces', share: 1, steps: namespaces },
  { name: 'places', share: 2, steps: places },
  { name: 'callers', share: 4, steps: callers },
  { name: 'paths', share: 3, steps: paths },
  { name: 'media', share: 2, steps: media },
  { name: 'known', share: 2, steps: known },
];
