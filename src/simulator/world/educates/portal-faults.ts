/**
 * The faults of Educates that its stand-ins can be told to have or not to have: D for what was found by reading and then seen,
 * # for what was reported to its makers.
 */
const FAULTS = {
  /** A creation that fails leaves no row, is not tried again, and the next one takes the same name. */
  forgetsCreations: ['D1', '#309', 'D17'],
  /** An activation that fails is not tried again: the environment stays STARTING. */
  losesActivations: ['D2'],
  /** A Workshop that changes while one of its environments is STARTING is not looked at again. */
  ignoresStarting: ['D3', 'D4'],
  /** Updates that are switched on later count from the next event of the Workshop. */
  comparesOnEventsOnly: ['D5'],
  /** An entry with labels is not put back when its environment is replaced. */
  losesLabelledEntries: ['D7'],
  /** session-manager takes a namespace of its own, made before it was killed, for a riddle: Unknown for ever. */
  strandsEnvironments: ['D8'],
  /** An environment that is gone stays RUNNING in the database. */
  believesItsRows: ['D10'],
  /** An environment counts as STOPPED whatever its deletion came to. */
  leaksEnvironments: ['D11'],
  /** session-manager never gets past the namespace of a session that it made before it was killed: Pending for ever. */
  strandsSessions: ['D12'],
  /** A session that waits is said to be Pending, whoever is in it. */
  overwritesPhases: ['D13', '#515'],
  /** An environment is given up 300 s after its Workshop was first missed. */
  givesUpOnWorkshops: ['D15', '#997'],
  /** The catalog fails where it meets an environment that was never taken into use. */
  failsOnUnlinked: ['D16'],
  /** A phase whose write meets a conflict is not written again. */
  losesPhases: ['headline 2'],
  /** A session that is gone is handed out until the next round. */
  handsOutTheGone: ['headline 3'],
} as const;

type PortalFaultName = keyof typeof FAULTS;
/** `ignoresAdded`: the filter of releases before 2.7.2 (incident 1); what runs today does not have it. */
export type PortalFaults = Readonly<Record<PortalFaultName | 'ignoresAdded', boolean>>;

function all(isOn: boolean): PortalFaults {
  const each = Object.keys(FAULTS).map((name) => [name, isOn]);
  return { ...Object.fromEntries(each), ignoresAdded: false } as PortalFaults;
}

/** Both programs as they were observed. */
export const PORTAL_AS_OBSERVED: PortalFaults = all(true);
/** Without any of them. */
export const PORTAL_MENDED: PortalFaults = all(false);
