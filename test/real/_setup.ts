import { aroundEach, inject } from 'vitest';
import { withEnd } from './_stage.ts';
import { reasonToLeaveOut } from './left-out.ts';

aroundEach(async (runTest, { task, skip }) => {
  const address = inject('realCluster');
  const reason =
    typeof address === 'string' ? address : reasonToLeaveOut(task.file.name, task.fullTestName ?? task.name);
  if (reason !== undefined) skip(reason);
  await withEnd(runTest);
});
