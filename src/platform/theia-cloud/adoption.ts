import type { KubeObject } from '../../kube/api.ts';
import { differences } from '../../pool/compare.ts';
import { revisionOf } from '../../pool/revision.ts';
import type { Observed, Problem } from '../../pool/types.ts';
import { ACCEPT_ANNOTATION, REVISION_LABEL } from '../warm-pool.ts';
import { additionsIn } from './_additions.ts';
import { isDerived, isOutside } from './_derived.ts';
import { generationOf } from './labels.ts';
import { entriesOf, isUnlabelled, type PartName } from './parts.ts';
import { compared } from './render.ts';
import { isGoing, type SlotView } from './slot-view.ts';

export interface AdoptionInput {
  readonly views: readonly SlotView[];
  readonly operator: Observed['operator'];
  /** It was proved before, or accepted. */
  readonly adopted: boolean;
}

export interface Adoption {
  /** What the operator makes was found to be what Everwarm makes, or a person accepted the difference. */
  readonly adopted: boolean;
  readonly problem?: Problem;
}

/** How many paths a message names. */
const PATHS_MAX = 12;

/**
 * The proof before the first write in a pool: an operator with templates of its own makes instances that Everwarm would take
 * for stale, and replace by its own. So what Everwarm would make is compared with what the operator made and nobody edited:
 * where *all* of them differ in the same path, that is no accident.
 *
 * Before a pool is adopted the instances speak that are labelled as current, or, where there are none, the stale ones, without
 * what comes from the definition. Afterwards a changed setting may make all of them stale, which is no reason to stop; only what
 * the operator made since its present start still speaks, for that is what it makes now.
 */
export function adoptionOf({ views, operator, adopted }: AdoptionInput): Adoption {
  const made = views.filter(isOperatorsOwn);
  const current = made.filter(isLabelledCurrent);
  const fresh = current.filter((view) => operator.alive && isSince(view, operator.startedAt));
  const sets = [fresh, ...(adopted ? [] : [current.length > 0 ? current : made])].filter(
    (set) => set.length > 0,
  );
  const differing = sets.find((set) => commonPaths(set).length > 0);
  if (differing === undefined) return { adopted: adopted || sets.length > 0 };
  const paths = commonPaths(differing);
  const hash = revisionOf(paths);
  if (isAccepted(differing[0], hash)) return { adopted: true };
  return { adopted, problem: { reason: 'TemplateMismatch', message: tell(differing, paths, hash) } };
}

/** Made by the operator, and its spec never edited since. */
function isOperatorsOwn({ parts, rendered }: SlotView): boolean {
  const { deployment } = parts;
  if (deployment === undefined || rendered === undefined || isGoing(deployment)) return false;
  return deployment.metadata.generation === 1 && deployment.metadata.labels?.[REVISION_LABEL] === undefined;
}

function isLabelledCurrent({ parts, source }: SlotView): boolean {
  return parts.deployment !== undefined && generationOf(parts.deployment) === source.metadata.generation;
}

/** Kubernetes notes whole seconds. */
function isSince({ parts }: SlotView, time: number): boolean {
  return Date.parse(parts.deployment?.metadata.creationTimestamp ?? '') + 999 >= time;
}

function commonPaths(views: readonly SlotView[]): readonly string[] {
  const [first, ...others] = views.map((view) => new Set(pathsIn(view)));
  return [...(first ?? [])].filter((path) => others.every((paths) => paths.has(path))).sort();
}

function pathsIn(view: SlotView): readonly string[] {
  const isCurrent = isLabelledCurrent(view);
  const ide = view.source.spec.name;
  return entriesOf(view.parts).flatMap(([name, live]) => {
    const rendered = view.rendered?.[name];
    if (rendered === undefined || !speaks(view, name, live)) return [];
    return differencesIn(rendered, live)
      .filter((path) => !isOutside(name, path) && (isCurrent || !isDerived(name, path, ide)))
      .map((path) => `${name}: ${path}`);
  });
}

/** A part that was made by another hand, or for another spec than its Deployment, says nothing. */
function speaks({ parts }: SlotView, name: PartName, live: KubeObject): boolean {
  if (isGoing(live) || live.metadata.labels?.[REVISION_LABEL] !== undefined) return false;
  return isUnlabelled(name) || generationOf(live) === generationOf(parts.deployment ?? live);
}

/** In both directions: what a template adds would be lost in what Everwarm makes. */
function differencesIn(rendered: KubeObject, live: KubeObject): readonly string[] {
  const added = live.kind === 'Deployment' ? additionsIn(rendered['spec'], live['spec']) : [];
  return [...differences(compared(rendered), live, { vouched: false }), ...added];
}

/** On the definition, or on the WarmPool, where it wakes nobody else. */
function isAccepted(view: SlotView | undefined, hash: string): boolean {
  const onSource = view?.source.metadata.annotations?.[ACCEPT_ANNOTATION];
  return [onSource, view?.warmPool?.accepted].includes(hash);
}

function tell(views: readonly SlotView[], paths: readonly string[], hash: string): string {
  const [{ source } = views[0] as SlotView] = views;
  const { name, namespace } = source.metadata;
  const stale = views.some((view) => !isLabelledCurrent(view));
  const more = paths.length > PATHS_MAX ? ` and ${paths.length - PATHS_MAX} more` : '';
  // Any change of the definition makes the operator replace all that is stale, at once.
  const where = stale ? 'warmpool' : 'appdefinition';
  return [
    `all ${views.length} instances that the operator made differ from what Everwarm would make in ${paths.slice(0, PATHS_MAX).join(', ')}${more}`,
    'nothing is created or deleted here until they do not',
    `to have them made as Everwarm makes them: kubectl annotate ${where} ${name} -n ${namespace} --overwrite ${ACCEPT_ANNOTATION}=${hash}`,
  ].join('; ');
}
