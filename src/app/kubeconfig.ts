import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { z } from 'zod';
import { TerminalError } from '../errors.ts';
import { wrongIn } from '../platform/wrong.ts';

/** The name of our extension in a kubeconfig's context. kubectl keeps what it does not know. */
const EXTENSION = 'everwarm.dev';

/** What a kubeconfig may say to Everwarm beside how to reach the cluster. */
const ExtensionSchema = z.strictObject({
  /** The mode of pools whose WarmPool names none. */
  mode: z.enum(['observe', 'guard']).optional(),
  /** The platform operator's settings, where no operator runs. */
  settings: z.record(z.string(), z.unknown()).optional(),
});
export type KubeconfigExtension = z.infer<typeof ExtensionSchema>;

const ConfigSchema = z.looseObject({
  'current-context': z.string().optional(),
  contexts: z
    .array(
      z.looseObject({
        name: z.string(),
        context: z
          .looseObject({
            extensions: z.array(z.object({ name: z.string(), extension: z.unknown() })).optional(),
          })
          .optional(),
      }),
    )
    .optional(),
});

/** Context, cluster and user of the kubeconfig of a cluster of our own. */
export const OWN_CONTEXT = 'everwarm';

const WrittenSchema = z.looseObject({
  contexts: z.array(z.looseObject({ context: z.looseObject({}) })),
});

/** Writes a kubeconfig of a cluster of our own, with what it says to Everwarm; nobody but its owner may read it. */
export async function writeKubeconfig(
  file: string,
  text: string,
  extension: KubeconfigExtension | undefined,
): Promise<void> {
  // It is JSON, which is YAML; kubectl rewrites it in its own form when it changes something.
  const config = WrittenSchema.parse(JSON.parse(text));
  const extensions = extension === undefined ? {} : { extensions: [{ name: EXTENSION, extension }] };
  const contexts = config.contexts.map((one) => ({ ...one, context: { ...one.context, ...extensions } }));
  await place(file, `${JSON.stringify({ ...config, contexts }, null, 2)}\n`);
}

/** Where the kubeconfig of a cluster of our own goes, unless somebody names another file. */
const USUAL_FILE = '.everwarm/kubeconfig';

/** The usual file, or one beside it while the cluster that the usual one leads to still answers. `server`: our own. */
export async function unusedKubeconfig(server: string): Promise<string> {
  const standing = await readFile(USUAL_FILE, 'utf8').catch(() => '');
  const other = /"server": *"(https:[^"]+)"/.exec(standing)?.[1];
  const isTaken = other !== undefined && other !== server && (await answers(new URL(other)));
  return isTaken ? `${USUAL_FILE}-${new URL(server).port}` : USUAL_FILE;
}

function answers({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const say = (isThere: boolean) => (): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', say(true)).once('error', say(false));
  });
}

/** Makes the folder if only that is missing. A recursive mkdir never ends in a file system that refuses it, such as /proc. */
async function place(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    throw new TerminalError(`the kubeconfig cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The name of the context in use, and what it says to Everwarm. Rejects with TerminalError when it says it wrongly. */
export async function readExtension(
  file: string,
  context: string | undefined,
): Promise<{ readonly context: string; readonly extension: KubeconfigExtension }> {
  const { loadYaml } = await import('@kubernetes/client-node');
  const read = ConfigSchema.safeParse(loadYaml(await readFile(file, 'utf8')));
  const name = context ?? read.data?.['current-context'] ?? '';
  const found = read.data?.contexts
    ?.find((one) => one.name === name)
    ?.context?.extensions?.find((one) => one.name === EXTENSION);
  if (found === undefined) return { context: name, extension: {} };
  const extension = ExtensionSchema.safeParse(found.extension);
  if (extension.success) return { context: name, extension: extension.data };
  const [issue] = extension.error.issues;
  throw new TerminalError(
    `${file}: extension ${EXTENSION} of context ${name}: ${issue?.path.map(String).join('.')} ${wrongIn(issue)}`,
  );
}
