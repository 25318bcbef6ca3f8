import type { Clock, Random } from '../../../clock.ts';
import type { KubeApi, KubeObject, Resource } from '../../../kube/api.ts';
import {
  SECRETS,
  TRAINING_PORTALS,
  WORKSHOP_ALLOCATIONS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from '../../../platform/educates/resources.ts';
import { DEPLOYMENTS, SERVICES } from '../../../platform/theia-cloud/resources.ts';
import { createOnce, type Verdict } from './_create-once.ts';
import { createHands, type Hands, itemsAt, ownedBy, textAt, valueAt } from './_hands.ts';
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from './_kinds.ts';
import { hearKind } from './_kopf.ts';
import { PORTAL_AS_OBSERVED, type PortalFaults } from './portal-faults.ts';

const GIVE_UP_MS = 300_000;
const ALLOCATION_GIVE_UP_MS = 45_000;

interface SessionManagerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults?: Partial<PortalFaults>;
  readonly log?: (line: string) => void;
}

/** A program of Educates that runs, is killed, and starts again. */
export interface Program {
  /** What stands is heard of as at every start. */
  start(): void;
  /** At once: a request that is under way may still take effect, nothing more is sent. */
  stop(): void;
}

/** A stand-in for session-manager: it builds what each object asks for, once, when it is new. */
export function createSessionManager(options: SessionManagerOptions): Program {
  let life: AbortController | undefined;
  return {
    start: () => {
      if (life !== undefined) return;
      life = new AbortController();
      begin(options, life.signal);
    },
    stop: () => {
      life?.abort();
      life = undefined;
    },
  };
}

function begin(options: SessionManagerOptions, signal: AbortSignal): void {
  const { api, clock } = options;
  const log = options.log ?? (() => undefined);
  const hands = createHands({ ...options, signal });
  const faults = { ...PORTAL_AS_OBSERVED, ...options.faults };
  const handle = (resource: Resource, handler: string, build: Build): void => {
    const builder = {
      resource,
      handler,
      build: (object: KubeObject, since: number) => build({ hands, faults, object, since }),
    };
    void hearKind({ api, clock, signal, log }, resource, createOnce(builder, hands, clock));
  };
  handle(TRAINING_PORTALS, 'training_portal_create', buildPortal);
  handle(WORKSHOP_ENVIRONMENTS, 'workshop_environment_create', buildEnvironment);
  handle(WORKSHOP_SESSIONS, 'workshop_session_create', buildSession);
  handle(WORKSHOP_ALLOCATIONS, 'workshop_allocation_create', buildAllocation);
}

interface Job {
  readonly hands: Hands;
  readonly faults: PortalFaults;
  readonly object: KubeObject;
  readonly since: number;
}
type Build = (job: Job) => Promise<Verdict>;

const retry = (afterMs: number, phase: string, message: string, detail = message): Verdict => ({
  kind: 'retry',
  afterMs,
  message: detail,
  status: { phase, message },
});
const failed = (message: string): Verdict => ({ kind: 'done', status: { phase: 'Failed', message } });

async function buildPortal({ hands, object, since }: Job): Promise<Verdict> {
  const { name } = object.metadata;
  const namespace = `${name}-ui`;
  const made = await hands.create(NAMESPACES, {
    metadata: { name: namespace, labels: labelsOf(object, 'portal'), ownerReferences: ownedBy(object) },
  });
  if (made.kind !== 'ok') {
    const message = `Namespace ${namespace} already exists.`;
    if (hands.now() - since >= GIVE_UP_MS) return failed(message);
    return retry(
      30_000,
      'Pending',
      message,
      `Namespace ${namespace} required for training portal ${name} already exists.`,
    );
  }
  await hands.create(SERVICE_ACCOUNTS, { metadata: { name: 'training-portal', namespace } });
  const selector = { deployment: 'training-portal' };
  await hands.create(SERVICES, {
    metadata: { name: 'training-portal', namespace },
    spec: { selector, ports: [{ port: 80, targetPort: 8080 }] },
  });
  await hands.create(DEPLOYMENTS, deployment('training-portal', namespace, selector, 'portal'));
  return {
    kind: 'done',
    status: {
      phase: 'Running',
      message: null,
      namespace,
      url: `http://${namespace}.labs.example.org`,
      clients: { robot: { id: 'robot-client-id', secret: 'robot-client-secret' } },
      credentials: {
        admin: { username: 'educates', password: 'admin-password' },
        robot: { username: 'robot@educates', password: 'robot-password' },
      },
    },
  };
}

async function buildEnvironment({ hands, faults, object, since }: Job): Promise<Verdict> {
  const { name } = object.metadata;
  const isLate = hands.now() - since >= GIVE_UP_MS;
  const workshopName = textAt(object, 'spec', 'workshop', 'name') ?? '';
  const workshop = await hands.get(WORKSHOPS, workshopName);
  if (workshop === undefined) {
    const message = `Workshop ${workshopName} is not available.`;
    if (isLate && faults.givesUpOnWorkshops) return failed(message);
    const detail = `Workshop ${workshopName} required by workshop environment ${name} is not available.`;
    return retry(30_000, 'Pending', message, detail);
  }
  if (valueAt(workshop, 'spec', 'session') === undefined)
    return { kind: 'retry', afterMs: 60_000, message: "'session'" };
  const refused = await environmentNamespace({ hands, faults, object, since }, isLate);
  if (refused !== undefined) return refused;
  await hands.create(SERVICE_ACCOUNTS, { metadata: { name, namespace: name } });
  const broken = await makeObjects(hands, itemsAt(workshop, 'spec', 'environment', 'objects'), name);
  if (broken !== undefined) {
    return failed(
      `Unable to create workshop environment objects, failed creating object ${broken} in namespace ${name} for workshop environment ${name}.`,
    );
  }
  const { uid, generation } = workshop.metadata;
  const pinned = { name: workshopName, uid, generation, spec: workshop['spec'] };
  return { kind: 'done', status: { phase: 'Running', message: null, namespace: name, workshop: pinned } };
}

/** Why there is no namespace to build in, or nothing. */
async function environmentNamespace(
  { hands, faults, object }: Job,
  isLate: boolean,
): Promise<Verdict | undefined> {
  const { name, uid } = object.metadata;
  const made = await hands.create(NAMESPACES, {
    metadata: { name, labels: labelsOf(object, 'environment'), ownerReferences: ownedBy(object) },
  });
  if (made.kind === 'ok') return undefined;
  const present = await hands.get(NAMESPACES, name);
  const isOwn = present?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
  if (!isOwn) {
    const message = `Namespace ${name} already exists.`;
    return isLate ? failed(message) : retry(30_000, 'Pending', message);
  }
  if (!faults.strandsEnvironments) return undefined;
  const phase = textAt(object, 'status', 'educates', 'phase') ?? 'None';
  return retry(30_000, 'Unknown', `Workshop environment ${name} in unexpected state ${phase}.`);
}

async function buildSession(job: Job): Promise<Verdict> {
  const { hands, object } = job;
  const { name } = object.metadata;
  const namespace = textAt(object, 'spec', 'environment', 'name') ?? '';
  const environment = await hands.get(WORKSHOP_ENVIRONMENTS, namespace);
  const workshop = valueAt(environment, 'status', 'educates', 'workshop');
  if (workshop === undefined) return pending(job, 60_000, `Environment ${namespace} is not ready.`);
  for (const secret of itemsAt(workshop, 'spec', 'environment', 'secrets')) {
    const wanted = textAt(secret, 'name') ?? '';
    if ((await hands.get(SECRETS, wanted, namespace)) === undefined)
      return pending(job, 15_000, `Secret ${wanted} not yet available in ${namespace}.`);
  }
  const owner = await sessionNamespace(job);
  if (owner === undefined) return pending(job, 60_000, `Namespace ${name} already exists.`);
  const metadata = { namespace, labels: labelsOf(object, 'session'), ownerReferences: ownedBy(owner) };
  await hands.create(SERVICE_ACCOUNTS, { metadata: { ...metadata, name } });
  await hands.create(SECRETS, { metadata: { ...metadata, name: `${name}-token` } });
  await hands.create(SECRETS, { metadata: { ...metadata, name: `${name}-session` } });
  const broken = await makeObjects(hands, itemsAt(workshop, 'spec', 'session', 'objects'), name);
  if (broken !== undefined) {
    return failed(
      `Unable to create workshop session objects, failed creating object ${broken} in namespace ${name} for workshop session ${name}.`,
    );
  }
  await hands.create(SECRETS, { metadata: { ...metadata, name: `${name}-ssh-keys` } });
  await hands.sleep(400);
  const selector = { deployment: name };
  const running = deployment(name, namespace, selector, 'workshop');
  await hands.create(DEPLOYMENTS, { ...running, metadata: { ...metadata, name } });
  await hands.create(SERVICES, {
    metadata: { ...metadata, name },
    spec: { selector, ports: [{ port: 10080 }] },
  });
  const sshd = { enabled: false, tunnel: { enabled: false } };
  return { kind: 'done', status: { message: null, sshd, url: `http://${name}.labs.example.org` } };
}

/** The session's namespace, new or, without the fault, made before; `undefined` when there is no way past it. */
async function sessionNamespace({ hands, faults, object }: Job): Promise<KubeObject | undefined> {
  const { name, uid } = object.metadata;
  const made = await hands.create(NAMESPACES, {
    metadata: { name, labels: labelsOf(object, 'session'), ownerReferences: ownedBy(object) },
  });
  if (made.kind === 'ok') return made.value;
  if (faults.strandsSessions) return undefined;
  const present = await hands.get(NAMESPACES, name);
  return present?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true ? present : undefined;
}

/** Whoever is in the session: the phase is written over. */
function pending({ faults, object }: Job, afterMs: number, message: string): Verdict {
  const isClaimed = textAt(object, 'status', 'educates', 'user') !== undefined;
  if (isClaimed && !faults.overwritesPhases) return { kind: 'retry', afterMs, message, status: { message } };
  return retry(afterMs, 'Pending', message);
}

async function buildAllocation({ hands, object, since }: Job): Promise<Verdict> {
  const session = textAt(object, 'spec', 'session', 'name') ?? '';
  const namespace = textAt(object, 'spec', 'environment', 'name') ?? '';
  for (const what of ['session', 'request', 'user']) {
    const secret = `${session}-${what}`;
    if ((await hands.get(SECRETS, secret, namespace)) !== undefined) continue;
    const title = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
    const message = `${title} variables secret ${secret} is not available.`;
    if (hands.now() - since >= ALLOCATION_GIVE_UP_MS) return failed(message);
    return retry(5_000, 'Pending', message);
  }
  return { kind: 'done', status: { phase: 'Allocated', message: null } };
}

/** Makes what a Workshop asks for beside its own; answers with the first that is of no kind the server knows. */
async function makeObjects(
  hands: Hands,
  objects: readonly unknown[],
  namespace: string,
): Promise<string | undefined> {
  for (const object of objects) {
    const kind = textAt(object, 'kind') ?? '';
    const name = textAt(object, 'metadata', 'name') ?? '';
    const resource = [CONFIG_MAPS, SECRETS, SERVICES, SERVICE_ACCOUNTS].find((one) => one.kind === kind);
    if (resource === undefined) return `${name} of type ${kind}`;
    const data = valueAt(object, 'data');
    await hands.create(resource, { metadata: { name, namespace }, ...(data === undefined ? {} : { data }) });
  }
  return undefined;
}

function deployment(
  name: string,
  namespace: string,
  matchLabels: Readonly<Record<string, string>>,
  container: string,
) {
  const spec = {
    containers: [{ name: container, image: `registry.example.org/educates/${container}:3.7.1` }],
  };
  return {
    metadata: { name, namespace },
    spec: { replicas: 1, selector: { matchLabels }, template: { metadata: { labels: matchLabels }, spec } },
  };
}

/** The owner's labels go on to what is made for it. */
function labelsOf({ metadata }: KubeObject, component: string): Readonly<Record<string, string>> {
  return { ...metadata.labels, 'training.educates.dev/component': component };
}
