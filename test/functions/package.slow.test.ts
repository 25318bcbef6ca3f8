import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleFunctions } from '../../infra/bundle.ts';
import { packageService, TEMPLATE_FILE, type Template } from './_template.ts';

const hasLint = spawnSync('cfn-lint', ['--version'], { stdio: 'ignore' }).status === 0;
const CLUSTERS = 'infra/aws/config/dev.clusters.json';

let printed: string;
let template: Template;
beforeAll(() => {
  ({ printed, template } = packageService());
});

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'everwarm-zips-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const ofType = (type: string) =>
  Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([name, { Properties }]) => ({ name, ...Properties }) as Record<string, unknown> & { name: string });

describe('the zips of the functions', () => {
  it('are the same, byte by byte, whenever and wherever they are made', async () => {
    const [first, second] = [directory(), directory()];
    const hashes = async (where: string) =>
      (await bundleFunctions({ clustersFile: CLUSTERS, directory: where })).map(
        ({ name, sha256 }) => `${name} ${sha256}`,
      );
    const before = await hashes(first);
    expect(before).toHaveLength(6);
    expect(await hashes(second)).toEqual(before);
    for (const line of before) expect(printed).toContain(line.split(' ')[1]);
  });

  it('are small: a door 200 kB at most, what reconciles 900 kB', async () => {
    const artifacts = await bundleFunctions({ clustersFile: CLUSTERS, directory: directory() });
    for (const { name, bytes } of artifacts)
      expect
        .soft(bytes, name)
        .toBeLessThanOrEqual(['webhook', 'ingest', 'later'].includes(name) ? 200_000 : 900_000);
  });

  it('are not made for clusters that the functions would refuse', async () => {
    const where = directory();
    const file = join(where, 'clusters.json');
    writeFileSync(file, '{"clusters":[{"id":"a"}]}');
    await expect(bundleFunctions({ clustersFile: file, directory: where })).rejects.toThrow(
      `${file}: clusters.0.`,
    );
  });
});

describe('the template', () => {
  it('has nothing that cfn-lint finds', ({ skip }) => {
    if (!hasLint) skip('cfn-lint is not on PATH');
    const { status, stdout } = spawnSync('cfn-lint', [TEMPLATE_FILE], { encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });

  it('gives a message six times as long as the function that has it', () => {
    const timeouts = new Map(
      ofType('AWS::Lambda::Function').map((one) => [one.name, Number(one['Timeout'])]),
    );
    const visibility = new Map(
      ofType('AWS::SQS::Queue').map((one) => [one.name, Number(one['VisibilityTimeout'])]),
    );
    const mappings = ofType('AWS::Lambda::EventSourceMapping');
    expect(mappings).toHaveLength(2);
    for (const { EventSourceArn, FunctionName, FunctionResponseTypes } of mappings) {
      const queue = nameIn(EventSourceArn);
      expect(visibility.get(queue), queue).toBeGreaterThanOrEqual(
        6 * (timeouts.get(nameIn(FunctionName)) ?? 0),
      );
      expect(FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    }
  });

  it('tells of every dead letter, and of every function that fails', () => {
    const watched = ofType('AWS::CloudWatch::Alarm').flatMap(({ Dimensions }) =>
      ((Dimensions ?? []) as { Value: unknown }[]).map(({ Value }) => nameIn(Value)),
    );
    const dead = ofType('AWS::SQS::Queue')
      .map(({ name }) => name)
      .filter((name) => name.endsWith('DeadLetters'));
    const functions = ofType('AWS::Lambda::Function').map(({ name }) => name);
    expect(dead).toHaveLength(4);
    expect(watched).toEqual(expect.arrayContaining([...dead, ...functions]));
  });

  it('lets the bus put its dead letters into their queue', () => {
    const [rule] = ofType('AWS::Events::Rule') as unknown as [
      { Targets: { DeadLetterConfig: { Arn: unknown } }[] },
    ];
    const queue = nameIn(rule.Targets[0]?.DeadLetterConfig.Arn);
    const policy = JSON.stringify(
      ofType('AWS::SQS::QueuePolicy').find(({ Queues }) => nameIn(Queues) === queue),
    );
    expect(policy).toContain('"Service":"events.amazonaws.com"');
    expect(policy).toContain('"sqs:SendMessage"');
  });

  it('encrypts all that rests', () => {
    const resting: readonly [type: string, field: string][] = [
      ['AWS::SQS::Queue', 'KmsMasterKeyId'],
      ['AWS::Logs::LogGroup', 'KmsKeyId'],
      ['AWS::Events::EventBus', 'KmsKeyIdentifier'],
      ['AWS::Events::Archive', 'KmsKeyIdentifier'],
      ['AWS::SNS::Topic', 'KmsMasterKeyId'],
    ];
    for (const [type, field] of resting) {
      expect(ofType(type).length, type).toBeGreaterThan(0);
      for (const one of ofType(type)) expect(nameIn(one[field]), one.name).toBe('Key');
    }
  });
});

/** The logical id that an intrinsic function names. */
function nameIn(value: unknown): string {
  return /"(?:Fn::GetAtt":\[|Ref":)"(\w+)"/.exec(JSON.stringify(value) ?? '')?.[1] ?? '';
}
