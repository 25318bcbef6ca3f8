import type { KubeObject } from '../../kube/api.ts';
import { isGoing } from './instance.ts';
import type { Snapshot } from './read.ts';
import { SESSIONS } from './resources.ts';

/**
 * What nobody but our WarmPool owns any more, under whatever name. The operator takes its AppDefinition off what it may not
 * delete when the pool shrinks; a pool that is made anew leaves what was withdrawn of the old one. Met at the operator's next
 * start the name of such a Service stops its whole AppDefinition, so it goes at once.
 */
export function leftoversOf(
  { services, configMaps, deployments }: Snapshot,
  sourceUid: string,
  warmPoolUid: string | undefined,
): readonly KubeObject[] {
  if (warmPoolUid === undefined) return [];
  return [...services, ...configMaps, ...deployments].filter((object) => {
    const owners = object.metadata.ownerReferences ?? [];
    const isOurs = owners.some(({ uid }) => uid === warmPoolUid);
    return (
      isOurs &&
      !isGoing(object) &&
      owners.every(({ uid, kind }) => uid !== sourceUid && kind !== SESSIONS.kind)
    );
  });
}
