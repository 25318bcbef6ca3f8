import { KINDS, type Kind, kindOf } from './_kinds.ts';
import type { Program } from './_program.ts';
import { create, edit, get, list, objectOf, patch, remove } from './_requests.ts';

/** Programs that chance seldom writes: the same few questions to every kind. */

const WRITTEN = KINDS.filter(({ dry, plural }) => dry !== true && plural !== 'namespaces');

const nameOf = ({ clusterScoped }: Kind, name: string) => (clusterScoped === true ? `{ns}-${name}` : name);

/** What is only tried is checked as if it were done, and leaves no trace. */
function tries(kind: Kind): Program {
  const [one, other] = [nameOf(kind, 'try'), nameOf(kind, 'tried')];
  const tried = { query: 'dryRun=All' };
  return {
    name: `tries ${kind.plural}`,
    steps: [
      create(kind, objectOf(kind, one)),
      create(kind, objectOf(kind, one), tried),
      create(kind, objectOf(kind, other), tried),
      get(kind, other),
      edit(kind, one, { metadata: { labels: { tried: 'yes' } } }, tried),
      patch('merge', kind, one, { metadata: { labels: { tried: 'yes' } } }, tried),
      patch('json', kind, one, [{ op: 'test', path: '/metadata/uid', value: 'other' }], tried),
      remove(kind, one, undefined, tried),
      remove(kind, one, { dryRun: ['All'], preconditions: { resourceVersion: '1' } }),
      create(kind, objectOf(kind, other), { query: 'dryRun=Some' }),
      get(kind, one),
    ],
  };
}

const META = 'application/json;g=meta.k8s.io;v=v1';
const form = (as: string) => ({ headers: { accept: `${META};as=${as}` } });

/** One object and a selection of its kind in every form in which a client may ask for it. */
function forms(kind: Kind): Program {
  const name = nameOf(kind, 'form');
  const selection = `fieldSelector=metadata.name%3D${name}`;
  return {
    name: `forms ${kind.plural}`,
    steps: [
      create(kind, objectOf(kind, name, { metadata: { labels: { form: '{ns}' } } })),
      get(kind, name, form('PartialObjectMetadata')),
      get(kind, name, form('PartialObjectMetadataList')),
      get(kind, name, form('Table')),
      get(kind, name, { ...form('Table'), query: 'includeObject=None' }),
      list(kind, { ...form('PartialObjectMetadataList'), query: selection }),
      list(kind, { ...form('PartialObjectMetadata'), query: selection }),
      list(kind, { ...form('Table'), query: 'labelSelector=form%3D{ns}&limit=1' }),
      patch('merge', kind, name, { metadata: { labels: { form: 'no' } } }, form('PartialObjectMetadata')),
      list(kind, { query: 'labelSelector=form%3D{ns}&limit=1' }),
    ],
  };
}

/** A Service's address: none, kept, and not to be changed. */
function addresses(): Program {
  const kind = kindOf('services');
  return {
    name: 'addresses',
    steps: [
      create(kind, objectOf(kind, 'headless', { spec: { clusterIP: 'None' } })),
      create(kind, objectOf(kind, 'plain')),
      get(kind, 'plain'),
      edit(kind, 'plain', { metadata: { labels: { a: 'b' } } }),
      edit(kind, 'plain', { spec: { clusterIP: 'None', clusterIPs: ['None'] } }),
      patch('merge', kind, 'headless', { spec: { selector: { app: 'other' } } }),
      patch('merge', kind, 'plain', { spec: { selector: { app: 'other' } } }),
      remove(kind, 'headless'),
      remove(kind, 'plain'),
    ],
  };
}

export const DIRECTED: readonly Program[] = [...WRITTEN.map(tries), ...WRITTEN.map(forms), addresses()];
