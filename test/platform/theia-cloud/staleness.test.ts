import { expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import { instanceOf } from '../../../src/platform/theia-cloud/instance.ts';
import { GENERATION_LABEL } from '../../../src/platform/theia-cloud/labels.ts';
import { poolRevision, renderSlot } from '../../../src/platform/theia-cloud/render.ts';
import type { SlotView } from '../../../src/platform/theia-cloud/slot-view.ts';
import {
  defaultPolicy,
  NO_MEMORY,
  REVISION_LABEL,
  type ReadWarmPool,
} from '../../../src/platform/warm-pool.ts';
import {
  appDefinitionIn,
  KEYCLOAK_ARGUMENTS,
  recorded,
  recordedSettings,
  recordedTemplate,
} from './_recorded.ts';

const OBJECTS = recorded('a-pool-keycloak/objects.json');
const RECORDED = appDefinitionIn(OBJECTS);
const SETTINGS = recordedSettings(KEYCLOAK_ARGUMENTS);
/** The definition has been written since: its counter says 4. */
const SOURCE = { ...RECORDED, metadata: { ...RECORDED.metadata, generation: 4 } };
const REVISION = poolRevision(SOURCE, SETTINGS, recordedTemplate());

type Labels = Readonly<Record<string, string>>;
const LABELS: Readonly<Record<string, Labels>> = {
  equal: { [GENERATION_LABEL]: '4' },
  older: { [GENERATION_LABEL]: '3' },
  'missing among others': { 'example.org/team': 'a' },
  'no labels at all': {},
  unparseable: { [GENERATION_LABEL]: 'four' },
};

function part(kind: string, name: string, labels: Labels, image?: string): KubeObject {
  const found = OBJECTS.find((o) => o.kind === kind && o.metadata.name.startsWith(name));
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  const { [GENERATION_LABEL]: _, ...rest } = found.metadata.labels ?? {};
  const others = kind === 'Deployment' && Object.keys(labels).length === 0 ? {} : rest;
  const text = JSON.stringify({
    ...found,
    metadata: { ...found.metadata, labels: { ...others, ...labels } },
  });
  return JSON.parse(image === undefined ? text : text.replaceAll('ide/java-17:1.0.0', image));
}

function slotWith(deployment: KubeObject, staleness: 'fields' | 'generation' = 'fields') {
  const warmPool: ReadWarmPool = {
    ref: { name: 'java-17-course', uid: 'pool', resourceVersion: '1', owners: [] },
    policy: defaultPolicy('guard'),
    staleness,
    hold: true,
    memory: NO_MEMORY,
    refresh: new Map(),
  };
  const equal = { [GENERATION_LABEL]: '4' };
  const view: SlotView = {
    slot: 1,
    source: SOURCE,
    parts: {
      externalService: part('Service', 'instance-1-java', equal),
      internalService: part('Service', 'instance-1-java', equal),
      proxyConfigMap: part('ConfigMap', 'instance-1-proxy', equal),
      emailConfigMap: part('ConfigMap', 'instance-1-email', equal),
      deployment,
    },
    pods: [],
    sidecarPods: [],
    rendered: renderSlot(SOURCE, SETTINGS, 1, recordedTemplate()),
    revision: REVISION,
    warmPool,
    settings: SETTINGS,
    routes: undefined,
    sessions: new Map(),
    now: 0,
  };
  return instanceOf(view);
}

function slotOne(labels: Labels, image?: string, staleness: 'fields' | 'generation' = 'fields') {
  return slotWith(part('Deployment', 'instance-1-java', labels, image), staleness);
}

it.each([
  { label: 'equal', fields: 'equal', stale: false, relabel: false },
  { label: 'equal', fields: 'set by hand', stale: true, relabel: false },
  { label: 'older', fields: 'equal', stale: false, relabel: true },
  { label: 'older', fields: 'set by hand', stale: true, relabel: true },
  { label: 'missing among others', fields: 'equal', stale: true, relabel: true },
  { label: 'missing among others', fields: 'set by hand', stale: true, relabel: true },
  { label: 'no labels at all', fields: 'equal', stale: true, relabel: true },
  { label: 'no labels at all', fields: 'set by hand', stale: true, relabel: true },
  { label: 'unparseable', fields: 'equal', stale: true, relabel: true },
  { label: 'unparseable', fields: 'set by hand', stale: true, relabel: true },
])('label $label, fields $fields: stale is $stale', ({ label, fields, stale, relabel }) => {
  const image = fields === 'equal' ? undefined : 'ide/java-17:pr-170';
  const instance = slotOne(LABELS[label] ?? {}, image);
  expect({ stale: instance.drift.length > 0, relabel: instance.relabel }).toEqual({ stale, relabel });
});

it.each(Object.keys(LABELS))('by generation alone, label %s: only an equal one is current', (label) => {
  const instance = slotOne(LABELS[label] ?? {}, undefined, 'generation');
  expect(instance.drift.length > 0).toBe(label !== 'equal');
});

it('an image set by hand is named by its path', () => {
  const { drift } = slotOne({ [GENERATION_LABEL]: '4' }, 'ide/java-17:pr-170');
  expect(drift).toEqual(['deployment: spec.template.spec.containers[java-17-course].image']);
});

it('an older label does not vouch for a variable that is no longer rendered', () => {
  const labels = { [GENERATION_LABEL]: '3' };
  const extra = (text: string) => text.replace('"env":[', '"env":[{"name":"LEFT_OVER","value":"1"},');
  const deployment = JSON.parse(extra(JSON.stringify(part('Deployment', 'instance-1-java', labels))));
  expect(slotWith(deployment).drift.some((path) => path.includes('LEFT_OVER'))).toBe(true);
});

it('our own revision label vouches like an equal one', () => {
  const labels = { [GENERATION_LABEL]: '3', [REVISION_LABEL]: REVISION };
  expect(slotOne(labels)).toMatchObject({ drift: [], relabel: true });
});

it('what we made for this revision and nobody edited, yet differs, is our own rendering at fault', () => {
  const ours = { [GENERATION_LABEL]: '4', [REVISION_LABEL]: REVISION };
  expect(slotOne(ours, 'ide/java-17:rewritten').unstable).toBe(true);
  expect(slotOne({ [GENERATION_LABEL]: '4' }, 'ide/java-17:rewritten').unstable).toBe(false);
});
