import type { KubeObject } from '../kube/api.ts';
import { APP_DEFINITIONS_V1BETA11 } from '../platform/theia-cloud/resources.ts';
import type { Standing } from '../pool/invariants.ts';
import type { TruthReader } from './truth.ts';

/** A slot as a reader sees it. */
export interface SlotView extends Standing {
  /** The IDE's image in its Deployment. */
  readonly image?: string;
  /** uid of the Deployment: another one is another instance. */
  readonly instance?: string;
  /** Name of the Session that holds it. */
  readonly user?: string;
}

/** The slots of a pool in rising order. */
export function slotViews(truth: TruthReader, pool: string): readonly SlotView[] {
  const source = truth.object(APP_DEFINITIONS_V1BETA11, pool);
  return [...truth.truth(pool).slots.values()]
    .map((slot) => {
      const deployment = truth.workloadOf(pool, slot.slot);
      const image = deployment === undefined ? undefined : imageOf(deployment, source);
      const user = slot.claimedBy === undefined ? undefined : truth.sessionName(slot.claimedBy);
      return {
        ...slot,
        ...(image === undefined ? {} : { image }),
        ...(deployment?.metadata.uid === undefined ? {} : { instance: deployment.metadata.uid }),
        ...(user === undefined ? {} : { user }),
      };
    })
    .sort((a, b) => Number(a.slot) - Number(b.slot));
}

function imageOf(deployment: KubeObject, source: KubeObject | undefined): string | undefined {
  const { spec } = deployment as unknown as {
    spec: { template: { spec: { containers: readonly { name: string; image: string }[] } } };
  };
  const { containers } = spec.template.spec;
  return (containers.find(({ name }) => name === source?.metadata.name) ?? containers.at(-1))?.image;
}
