/**
 * Scenarios that are not told on a real API server, each with the reason: file, what its full name contains, why. What else
 * needs faults that only an embedded cluster can be made to have is in `test/scenarios/faults`, which is not told there at all.
 */
export const LEFT_OUT: readonly (readonly [file: string, name: string, reason: string])[] = [
  [
    'crash.slow.test.ts',
    '',
    'a process that dies at each of its writes in turn: hundreds of worlds one after the other',
  ],
  [
    'races.slow.test.ts',
    '',
    'a claim at each moment of a replacement in turn: dozens of worlds one after the other',
  ],
  [
    'leaving.test.ts',
    'is what remains where the WarmPool kind is not installed',
    'all stories share one cluster, which has the kind',
  ],
  ['leaving.test.ts', 'tells what it would do', "it reads the embedded cluster's store"],
  ['no-room.test.ts', 'half of which is missing from the start', 'an hour of back-offs'],
  ['no-room.test.ts', 'a release that fits on no node', 'ten minutes of back-offs, kept to the letter'],
  ['no-room.test.ts', 'however long it lasted', 'half an hour of back-offs'],
  ['typo-release.test.ts', 'appears in its registry later', "five minutes of the kubelet's back-off"],
];

/** Why a test is not run on a real API server; `undefined` if it is. */
export function reasonToLeaveOut(file: string, name: string): string | undefined {
  return LEFT_OUT.find(([of, part]) => file.endsWith(of) && name.includes(part))?.[2];
}
