/**
 * The faults of Theia Cloud's operator that its stand-in can be told to have or not to have, each with its numbers in the list of
 * faults (`docs/theia-cloud.md`). Who cures what stands there, too; what happens to pools is told here.
 */
export const FAULTS = {
  /** An AppDefinition that is ADDED (at each start, all are) gets what is missing; what is old stays. */
  createsOnlyAtAdded: ['F1'],
  /** Nothing is looked at without an event, and no events of Services, ConfigMaps or Deployments are heard. */
  neverLooksAgain: ['F2'],
  /** A Session that was deleted while the operator was down is never released: its pod, labels and allow-list stay. */
  forgetsReleases: ['F3'],
  /** The lowest free slot is handed out, whatever its Deployment and pod are like and whoever used it before. */
  claimsUnseen: ['F4'],
  /** Owners are counted in a list and then added by two patches; one that is lost ends the Session in ERROR. */
  claimsWithoutSwap: ['F5'],
  /** Deletes carry no precondition: what was claimed since the list goes, too. */
  deletesUnguarded: ['F6'],
  /** After the release of a stale slot everything of it is deleted and made again, whoever claimed it meanwhile. */
  recyclesClaimed: ['F7'],
  /** A release frees the Services first; only then the allow-list is emptied and the pod deleted. */
  freesBeforeClearing: ['F8'],
  /** A claim that fails half way ends its Session in ERROR and leaves the slot bound to it. */
  keepsFailedClaims: ['F9', 'F48'],
  /** A Session found HANDLING at a start ends in ERROR. */
  dropsInterrupted: ['F10'],
  /** ConfigMaps know no Session: a new generation empties allow-lists of live users, a scale-down deletes them. */
  replacesClaimedConfigMaps: ['F11'],
  /** A claimed slot above min loses its AppDefinition as an owner. */
  disownsRetired: ['F12'],
  /** At a claim the first Service without `-int` in its name counts as the external one, a sidecar's too. */
  claimsSidecars: ['F13', 'N4'],
  /** On MODIFIED a sidecar's Deployment counts as a stale IDE: it is deleted, and not made again. */
  replacesSidecars: ['F13', 'N3'],
  /** After a release a sidecar counts as stale: the whole slot is made anew each time. */
  recyclesForSidecars: ['F13', 'N5'],
  /** A slot with one of its two Services counts as a slot with both. */
  countsHalfPairs: ['F14'],
  /** Whatever changes in an AppDefinition's spec, be it the number of instances, makes every instance stale. */
  judgesByGeneration: ['F15'],
  /** Everything that is stale is replaced at once; nobody waits for a pod. */
  replacesAllAtOnce: ['F16', 'N2'],
  /** Limits hold only for Sessions that find no warm slot. */
  limitsOnlyLazily: ['F17'],
  /** A Session with a Workspace gets a warm slot, and not its files. */
  ignoresWorkspaces: ['F18'],
  /** A conflict on a Session's status ends the Session in ERROR, and the process. */
  endsOnConflict: ['F21'],
  /** Waiting for a URL to answer is forgotten at a restart. */
  forgetsUrls: ['F22'],
  /** Without the shared route an AppDefinition is dropped for good. */
  gatesOnce: ['F25'],
  /** A name that is taken ends the creation of everything that comes after it. */
  stopsAtTakenName: ['F26', 'N6'],
  /** A Session that is gone already is handled all the same, and its slot never released. */
  claimsForTheGone: ['F27'],
  /** A volume that does not go away in time is left out of the Deployment that is made next. */
  dropsVolumes: ['F29'],
  /** One pod is deleted at a release, the first by name. */
  deletesOnePod: ['F30'],
  /** A sidecar that is there stays as it is, whatever the AppDefinition says. */
  keepsOldSidecars: ['F31'],
  /** The shared route is owned by the AppDefinitions, and goes with the last of them. */
  ownsSharedRoute: ['F37'],
  /** What the watch brings a second time is handled a second time. */
  hearsTwice: ['F46', 'N1'],
  /** A Session in ERROR says nothing that its user gets to see. */
  hidesErrors: ['F51'],
} as const;

export type FaultName = keyof typeof FAULTS;

/** Which of its faults an operator has. */
export type OperatorFaults = Readonly<Record<FaultName, boolean>>;

const NAMES = Object.keys(FAULTS) as readonly FaultName[];

function all(isOn: boolean): OperatorFaults {
  return Object.fromEntries(NAMES.map((name) => [name, isOn])) as OperatorFaults;
}

/** The operator as it was observed. */
export const AS_OBSERVED: OperatorFaults = all(true);

/** An operator without any of them. */
export const MENDED: OperatorFaults = all(false);

/** A mended operator that has these faults, and no other. */
export function onlyFaults(...names: readonly FaultName[]): OperatorFaults {
  return { ...MENDED, ...Object.fromEntries(names.map((name) => [name, true])) };
}
