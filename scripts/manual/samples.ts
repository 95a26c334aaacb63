// Runs the samples in TypeScript and Python: those of the clients beside a fresh client, those that verify signatures
// with a delivery of the relay.

import { eventually } from '../../test/support/eventually.ts'
import type { Block } from './blocks.ts'
import type { World } from './world.ts'

const SAMPLE_MS_MAX = 60_000
const LANGUAGES: Readonly<
  Record<string, readonly [extension: string, client: string, program: string]>
> = {
  ts: ['ts', 'typescript', process.execPath],
  python: ['py', 'python', 'python3'],
}

/** What is wrong with the sample; none if it did its job. */
export async function runSample(
  world: World,
  block: Block,
  blocks: readonly Block[],
): Promise<readonly string[]> {
  const [extension = '', client = '', program = ''] = LANGUAGES[block.language] ?? []
  if (Bun.which(program) === null) return [`${program} is not on this machine`]
  if (block.guide === 'webhooks') return verifies(world, block, { extension, program })
  await world.run(`hookline client ${client} --out hookline.${extension}`)
  const samples = blocks.filter(({ language }) => language === block.language)
  for (const { text } of samples) await Bun.write(world.folder.file(nameOf(text)), text)
  const command = [program, nameOf(block.text)]
  const run = GO_ON[nameOf(block.text).replace(/\..*/, '')]
  return run === undefined ? ended(start(world, command)) : run(world, command)
}

/** The file that a sample's first line names. */
const nameOf = (text: string) => /^(?:\/\/|#) (\w+\.(?:ts|py))\n/.exec(text)?.[1] ?? 'unnamed'

/** Samples that go on until they are ended. */
const GO_ON: Readonly<
  Record<string, (world: World, command: readonly string[]) => Promise<readonly string[]>>
> = { events: readsEvents, webhook: takesWebhooks }

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

function start(
  world: World,
  command: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Child {
  return Bun.spawn([...command], {
    cwd: world.folder.path,
    env: { ...world.environment, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: SAMPLE_MS_MAX,
  })
}

async function ended(child: Child): Promise<readonly string[]> {
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const isRefused = output.includes('Not sent:')
  return exitCode === 0 && !isRefused ? [] : [`exit ${exitCode}: ${output}${errors}`.slice(0, 500)]
}

/** Ends a program that goes on once it has printed `wanted`. */
async function printed(
  child: Child,
  wanted: string,
  act: () => Promise<unknown>,
): Promise<readonly string[]> {
  let output = ''
  const decoder = new TextDecoder()
  const read = (async () => {
    for await (const chunk of child.stdout) output += decoder.decode(chunk)
  })()
  try {
    await eventually(`it prints ${wanted}`, async () => {
      await act().catch(() => null)
      await Bun.sleep(300)
      return output.includes(wanted) ? true : null
    })
    return []
  } catch (error) {
    return [`${String(error)} ${output}`]
  } finally {
    child.kill()
    await read
  }
}

function readsEvents(world: World, command: readonly string[]): Promise<readonly string[]> {
  const act = () =>
    world.api.ask('POST', '/api/v1/messages/send', { to: '+12025550196', text: 'On my way.' })
  return printed(start(world, command), 'On my way.', act)
}

/** Delivers to the sample what the relay has delivered. */
async function takesWebhooks(world: World, command: readonly string[]): Promise<readonly string[]> {
  const { headers, body } = await world.delivery()
  const port = 20_000 + (process.pid % 20_000)
  const child = start(world, command, { PORT: String(port) })
  return printed(child, 'message.received', () =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body }),
  )
}

/** Calls the function of the sample with a delivery, and with the same one changed. */
async function verifies(
  world: World,
  { language, text }: Block,
  { extension, program }: { readonly extension: string; readonly program: string },
): Promise<readonly string[]> {
  const { headers, body } = await world.delivery()
  await Bun.write(
    world.folder.file('delivery.json'),
    JSON.stringify({ headers, body, secret: world.secret }),
  )
  await Bun.write(world.folder.file(`verify.${extension}`), `${text}\n${CALLS[language] ?? ''}`)
  const child = start(world, [program, `verify.${extension}`])
  const output = (await new Response(child.stdout).text()).toLowerCase()
  if (output.trim() === 'true false') return []
  return [`it says ${output}${await new Response(child.stderr).text()}`]
}

const CALLS: Readonly<Record<string, string>> = {
  ts: `import { readFileSync } from 'node:fs'
const { headers, body, secret } = JSON.parse(readFileSync('delivery.json', 'utf8'))
const says = (text: string) => isFromHookline(new Headers(headers), text, secret)
console.log(says(body), says(body + ' '))
`,
  python: `import json
given = json.load(open("delivery.json"))
says = lambda text: is_from_hookline(given["headers"], text.encode(), given["secret"])
print(says(given["body"]), says(given["body"] + " "))
`,
}
