import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import { isDerived, isOutside } from '../../../src/platform/theia-cloud/_derived.ts';
import { type Adoption, adoptionOf } from '../../../src/platform/theia-cloud/adoption.ts';
import { type AppDefinition, parseAppDefinition } from '../../../src/platform/theia-cloud/crds.ts';
import { entriesOf } from '../../../src/platform/theia-cloud/parts.ts';
import { compared, renderSlot } from '../../../src/platform/theia-cloud/render.ts';
import type { SlotView } from '../../../src/platform/theia-cloud/slot-view.ts';
import { arrange, partsOf } from '../../../src/platform/theia-cloud/slots.ts';
import { defaultPolicy, NO_MEMORY, type ReadWarmPool } from '../../../src/platform/warm-pool.ts';
import { differences } from '../../../src/pool/compare.ts';
import {
  appDefinitionIn,
  KEYCLOAK_ARGUMENTS,
  recorded,
  recordedSettings,
  recordedTemplate,
  unwrap,
} from './_recorded.ts';

const OBJECTS = recorded('a-pool-keycloak/objects.json');
const SETTINGS = recordedSettings(KEYCLOAK_ARGUMENTS);
const MADE_AT = Date.parse('2026-11-30T16:08:36Z');
const LONG_AGO = { alive: true, startedAt: MADE_AT + 3_600_000 };
const BEFORE = { alive: true, startedAt: MADE_AT - 60_000 };

type Edit = (text: string) => string;
const asMade: Edit = (text) => text;
const WITH_TOLERATION: Edit = (text) =>
  text.replace('"dnsPolicy":', '"tolerations":[{"key":"ide","operator":"Exists"}],"dnsPolicy":');
const WITH_VARIABLE: Edit = (text) => text.replace('"env":[', '"env":[{"name":"COURSE_PROXY","value":"1"},');
const WITHOUT_ARGUMENT: Edit = (text) => text.replace('"--gcp-healthchecks",', '');
const OTHER_IMAGE: Edit = (text) => text.replaceAll('ide/java-17:1.0.0', 'ide/java-17:pr-170');
const EDITED: Edit = (text) => text.replace('"generation":1', '"generation":2');
const OURS: Edit = (text) => text.replace('"labels":{', '"labels":{"everwarm.dev/revision":"v1-0123456789",');
const both =
  (...edits: readonly Edit[]): Edit =>
  (text) =>
    edits.reduce((now, edit) => edit(now), text);

interface Situation {
  /** What the operator's template did to the Deployment of each slot. */
  readonly slots: readonly Edit[];
  readonly operator?: { readonly alive: boolean; readonly startedAt: number };
  readonly adopted?: boolean;
  /** The definition was written since: all instances are labelled with an older generation. */
  readonly newer?: boolean;
  readonly onDefinition?: string;
  readonly onWarmPool?: string;
}

function look(situation: Situation): Adoption {
  const { slots, operator = LONG_AGO, adopted = false, newer = false } = situation;
  const source = definition(newer, situation.onDefinition);
  const objects = OBJECTS.map((object): KubeObject => {
    const edit = slots[Number(object.metadata.name.split('-')[1]) - 1];
    return object.kind === 'Deployment' && edit !== undefined
      ? JSON.parse(edit(JSON.stringify(object)))
      : object;
  });
  return adoptionOf({ views: viewsOf(objects, source, situation.onWarmPool), operator, adopted });
}

function definition(newer: boolean, accepted: string | undefined): AppDefinition {
  const { metadata, ...rest } = appDefinitionIn(OBJECTS);
  const annotations = accepted === undefined ? {} : { 'everwarm.dev/accept-template': accepted };
  const spec = newer
    ? { ...rest.spec, image: 'registry.example.org/ide/java-17:2.0.0', limitsCpu: '3' }
    : rest.spec;
  return { ...rest, spec, metadata: { ...metadata, generation: newer ? 2 : 1, annotations } };
}

function viewsOf(
  objects: readonly KubeObject[],
  source: AppDefinition,
  accepted: string | undefined,
): readonly SlotView[] {
  const kinds = (kind: string) => objects.filter((object) => object.kind === kind);
  const arranged = arrange({
    now: MADE_AT,
    warmPools: [],
    sources: [],
    services: kinds('Service'),
    deployments: kinds('Deployment'),
    configMaps: kinds('ConfigMap'),
    volumeClaims: [],
    pods: [],
    quotas: [],
    lease: undefined,
    leaseReadAt: MADE_AT,
    sessions: new Map(),
  });
  const warmPool: ReadWarmPool = {
    ref: { name: 'java-17-course', uid: 'pool', resourceVersion: '1', owners: [] },
    policy: defaultPolicy('guard'),
    staleness: 'fields',
    hold: true,
    memory: NO_MEMORY,
    refresh: new Map(),
    ...(accepted === undefined ? {} : { accepted }),
  };
  return [1, 2, 3].map((slot) => ({
    slot,
    source,
    parts: partsOf(arranged, source, slot),
    pods: [],
    sidecarPods: [],
    rendered: renderSlot(source, SETTINGS, slot, recordedTemplate()),
    revision: 'v1-aaaaaaaaaa',
    warmPool,
    settings: SETTINGS,
    routes: undefined,
    sessions: new Map(),
    now: MADE_AT,
  }));
}

function messageOf(situation: Situation): string {
  const { problem } = look(situation);
  if (problem?.reason !== 'TemplateMismatch') throw new Error(`no mismatch: ${JSON.stringify(problem)}`);
  return problem.message;
}

const hashIn = (message: string): string => /everwarm\.dev\/accept-template=(\S+)$/.exec(message)?.[1] ?? '';

describe('a pool that is not adopted yet', () => {
  it('is adopted when its instances are what would be made', () => {
    expect(look({ slots: [asMade, asMade, asMade] })).toEqual({ adopted: true });
  });

  it.each([
    ['adds a toleration', WITH_TOLERATION, 'deployment: spec.template.spec.tolerations'],
    [
      'adds a variable',
      WITH_VARIABLE,
      'deployment: spec.template.spec.containers[java-17-course].env[COURSE_PROXY]',
    ],
    [
      'takes an argument away',
      WITHOUT_ARGUMENT,
      'deployment: spec.template.spec.containers[oauth2-proxy].args',
    ],
  ])('is left alone when the template of the operator %s', (_, edit, path) => {
    const message = messageOf({ slots: [edit, edit, edit] });
    expect(message).toContain(path);
    expect(message).toContain('all 3 instances that the operator made');
    expect(message).toMatch(
      /kubectl annotate appdefinition java-17-course -n theia-demo --overwrite everwarm\.dev\/accept-template=v1-[0-9a-f]{10}$/,
    );
  });

  it('is adopted when only one of three differs: that one is stale', () => {
    expect(look({ slots: [asMade, WITH_VARIABLE, asMade] })).toEqual({ adopted: true });
  });

  it('is adopted when all but one differ in the same way', () => {
    expect(look({ slots: [WITH_VARIABLE, WITH_VARIABLE, asMade] })).toEqual({ adopted: true });
  });

  it('is not adopted by what Everwarm itself has made', () => {
    expect(look({ slots: [OURS, OURS, OURS] })).toEqual({ adopted: false });
  });

  it('is adopted when each differs in another way', () => {
    expect(look({ slots: [WITH_TOLERATION, WITH_VARIABLE, WITHOUT_ARGUMENT] })).toEqual({ adopted: true });
  });

  it('is not stopped by what a person edited, or what Everwarm made', () => {
    const edited = both(OTHER_IMAGE, EDITED);
    expect(look({ slots: [edited, edited, edited] })).toEqual({ adopted: false });
    const ours = both(WITH_VARIABLE, OURS);
    expect(look({ slots: [ours, ours, asMade] })).toEqual({ adopted: true });
  });

  it('has nothing to compare when nothing stands, and is not taken for adopted', () => {
    expect(adoptionOf({ views: [], operator: LONG_AGO, adopted: false })).toEqual({ adopted: false });
  });
});

describe('a pool in which nothing is current', () => {
  it('is adopted when the stale ones differ in nothing but what the definition says', () => {
    expect(look({ slots: [asMade, OTHER_IMAGE, asMade], newer: true })).toEqual({ adopted: true });
  });

  it('is left alone when they also differ in something of the template, and says how to accept it without waking the operator', () => {
    const message = messageOf({ slots: [WITH_TOLERATION, WITH_TOLERATION, WITH_TOLERATION], newer: true });
    expect(message).toContain('in deployment: spec.template.spec.tolerations;');
    expect(message).toContain('kubectl annotate warmpool java-17-course');
  });
});

describe('a difference that a person accepted', () => {
  const slots = [WITH_TOLERATION, WITH_TOLERATION, WITH_TOLERATION];
  const hash = hashIn(messageOf({ slots }));

  it('stops nothing, wherever the annotation stands', () => {
    expect(look({ slots, onDefinition: hash })).toEqual({ adopted: true });
    expect(look({ slots, onWarmPool: hash })).toEqual({ adopted: true });
  });

  it('is not the next one: another template asks again', () => {
    const others = slots.map((edit) => both(edit, WITH_VARIABLE));
    const message = messageOf({ slots: others, onDefinition: hash });
    expect(hashIn(message)).not.toBe(hash);
  });
});

describe('a pool that was adopted', () => {
  const slots = [WITH_VARIABLE, WITH_VARIABLE, WITH_VARIABLE];

  it('is not stopped when a changed setting makes all instances stale that are older than the operator', () => {
    expect(look({ slots, adopted: true })).toEqual({ adopted: true });
  });

  it('is stopped when the operator, since its start, makes something else', () => {
    expect(messageOf({ slots, adopted: true, operator: BEFORE })).toContain('COURSE_PROXY');
  });

  it('is not stopped by an operator that is gone', () => {
    const operator = { ...BEFORE, alive: false };
    expect(look({ slots, adopted: true, operator })).toEqual({ adopted: true });
  });
});

/** Every field of the spec but its name, given another value. */
const OTHERWISE = {
  image: 'registry.example.org/other:9',
  imagePullPolicy: 'Always',
  pullSecret: 'other-registry',
  uid: 202,
  port: 3333,
  requestsCpu: '1m',
  requestsMemory: '1M',
  limitsCpu: '5m',
  limitsMemory: '5M',
  downlinkLimit: 1,
  uplinkLimit: 2,
  mountPath: '/elsewhere',
  monitor: { port: 8081 },
  options: { dataBridgeEnabled: 'true', dataBridgePort: '1234' },
  sidecars: [
    { name: 'zls', image: 'registry.example.org/zls:1', port: 5001, mountWorkspace: true },
    { name: 'zz', image: 'registry.example.org/zz:1', port: 5002 },
  ],
};

it('whatever comes from the definition is known to come from there', () => {
  const first = recorded('c-pool-sidecar-mount/objects.json').find(({ kind }) => kind === 'AppDefinition');
  const before = unwrap(parseAppDefinition(first));
  const changed = { ...before, spec: { ...before.spec, ...OTHERWISE } };
  const after = unwrap(parseAppDefinition(changed));
  const settings = { ...SETTINGS, bandwidthLimiter: 'K8SANNOTATIONANDWONDERSHAPER' as const };
  const [old, now] = [before, after].map((app) => renderSlot(app, settings, 1, recordedTemplate()));
  const told = entriesOf(old ?? {}).flatMap(([name, part]) => {
    const other = now?.[name];
    const bothWays = other === undefined ? [] : [differences(compared(part), other, { vouched: false })];
    return bothWays
      .flat()
      .filter((path) => !isOutside(name, path) && !isDerived(name, path, before.spec.name))
      .map((path) => `${name}: ${path}`);
  });
  expect(told).toEqual([]);
});
