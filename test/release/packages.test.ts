// The .deb and the image as their users have them: installed or unpacked into a root of its own, started there
// by what they say of themselves, upgraded to a version with a new schema, and removed. What was sent stays.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, realpathSync, renameSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

import { deb } from '../../scripts/release/deb.ts'
import type { Documents } from '../../scripts/release/documents.ts'
import { findLibrary, imageLayout } from '../../scripts/release/image.ts'
import { freePort } from '../executable/upgraded-relay.ts'
import { eventually } from '../support/eventually.ts'
import { builtExecutable } from '../support/executable.ts'
import { testNeeding } from '../support/needs.ts'
import { nextVersion } from '../support/next-version.ts'
import { ApiClient, type ApiKey } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'
import { ARCHITECTURE, SmallRoot, canChangeRoot, type Order } from './small-root.ts'

type Message = { readonly id: string; readonly text: string; readonly status: string }
type Config = {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
}

const NEXT = '9.9.9'
/** Compiling the next version, where no test has done it, takes part of it. */
const TEST_MS = 600_000
const ANN = 1000
const UNIT = 'usr/lib/systemd/user/hookline.service'
const DATA = 'home/ann/.local/share/hookline'
/** Dates and a level that take little time. */
const QUICK = { seconds: 1_800_000_000, level: 1 }
const DOCUMENTS: Documents = {
  licenses: 'MIT',
  changelog: '# Changes',
  manual: '.TH HOOKLINE 1',
  completions: { bash: 'bash', zsh: 'zsh', fish: 'fish' },
}

const inSmallRoot = testNeeding('root, unshare and dpkg', canChangeRoot)

const builds = new ScratchFolder()
afterAll(() => builds[Symbol.dispose]())
const bytesOf = {
  now: () => readFileSync(builtExecutable()),
  next: async () => readFileSync(await nextVersion(NEXT)),
}

inSmallRoot(
  'the .deb is installed, started by its unit, sends, is upgraded while it runs, and leaves its data',
  async () => {
    using root = new SmallRoot()
    root.makeDebian()
    const port = freePort()

    root.dpkg('--install', packageOf(builds, '0.1.0', bytesOf.now()))
    root.write(`${DATA}/hookline.env`, `HOOKLINE_PORT=${port}\nHOOKLINE_SIMULATED_LINES=1\n`)
    Bun.spawnSync(['chown', '-R', '1000:1000', root.file('home/ann')])
    Bun.spawnSync(['chmod', '700', root.file(DATA)])
    const key = await makeKey(root, asAnn())
    const first = await started(root, unitOrder(root), port)
    const sent = await send(port, key, 'before')
    root.dpkg('--install', packageOf(builds, NEXT, await bytesOf.next()))
    const whileUpgraded = await listed(port, key)
    first.kill('SIGTERM')
    const ended = await first.exited
    const second = await started(root, unitOrder(root), port)
    const again = await send(port, key, 'after')
    const texts = await listed(port, key)
    const version = await root.run({ ...asAnn(), command: ['/usr/bin/hookline', 'version'] })
    second.kill('SIGTERM')
    await second.exited
    root.dpkg('--remove', 'hookline')
    root.dpkg('--purge', 'hookline')

    expect([sent.status, again.status, ended]).toEqual(['sent', 'sent', 0])
    expect(whileUpgraded).toEqual(['before'])
    expect(version).toBe(`hookline ${NEXT}\n`)
    expect(texts.sort()).toEqual(['after', 'before'])
    expect(existsSync(root.file('usr/bin/hookline'))).toBe(false)
    expect(existsSync(root.file(UNIT))).toBe(false)
    expect(existsSync(root.file(`${DATA}/hookline.db`))).toBe(true)
  },
  TEST_MS,
)

inSmallRoot(
  'where the package brings the unit, `service install` enables that and writes none of its own, and dpkg upgrades',
  async () => {
    using root = new SmallRoot()
    root.makeDebian()
    for (const name of ['systemctl', 'loginctl']) {
      root.write(`usr/bin/${name}`, `#!/bin/sh\necho "${name} $*" >>/tmp/calls\n`, 0o755)
    }
    root.dpkg('--install', packageOf(builds, '0.1.0', bytesOf.now()))

    await root.run({ ...asAnn(), command: ['/usr/bin/hookline', 'service', 'install'] })
    const command = ['/usr/bin/hookline', 'upgrade', '--from', '/usr/bin/hookline']
    const refused = root.run({ ...asAnn(), command })
    await expect(refused).rejects.toThrow('A package brought this executable.')

    expect(existsSync(root.file('home/ann/.config'))).toBe(false)
    const calls = readFileSync(root.file('tmp/calls'), 'utf8').split('\n')
    expect(calls.filter((call) => !call.includes(' show '))).toEqual([
      'loginctl enable-linger 1000',
      'systemctl --user daemon-reload',
      'systemctl --user enable hookline.service',
      '',
    ])
  },
  TEST_MS,
)

inSmallRoot('an upgrade has the relay of each user restarted, and a removal has it stopped', () => {
  using root = new SmallRoot()
  root.makeDebian()
  const systemctl = `#!/bin/sh
case "$*" in
  *list-units*) echo 'user@1000.service loaded'; echo 'user@1001.service loaded' ;;
  *) echo "$*" >>/tmp/calls; exit 1 ;;
esac
`
  root.write('usr/bin/systemctl', systemctl, 0o755)
  root.write('run/systemd/system/.keep', '')
  const calls = () => {
    const text = readFileSync(root.file('tmp/calls'), 'utf8')
    root.write('tmp/calls', '')
    return [...(text.match(/(?<=--machine ).*/g) ?? [])]
  }

  root.dpkg('--install', packageOf(builds, '0.1.0', Buffer.from('1')))
  const installed = calls()
  root.dpkg('--install', packageOf(builds, '0.2.0-rc.1', Buffer.from('2')))
  root.dpkg('--install', packageOf(builds, '0.2.0', Buffer.from('3')))
  const upgraded = calls()
  root.dpkg('--remove', 'hookline')

  const perUser = (verb: string) => [`1000@ ${verb}`, `1001@ ${verb}`]
  const change = [...perUser('daemon-reload'), ...perUser('try-restart hookline.service')]
  expect(installed).toEqual(perUser('daemon-reload'))
  expect(upgraded).toEqual([...change, ...change])
  expect(calls()).toEqual(perUser('stop hookline.service'))
})

inSmallRoot(
  'the image is unpacked, started as it says, sends, and the next one goes on with its data',
  async () => {
    const port = freePort()
    using old = new SmallRoot()
    using next = new SmallRoot()
    const config = unpack(old, '0.1.0', bytesOf.now())
    const order = imageOrder(config, port)

    const first = await started(old, order, port)
    const key = await makeKey(old, order)
    const sent = await send(port, key, 'before')
    first.kill('SIGTERM')
    const ended = await first.exited
    unpack(next, NEXT, await bytesOf.next())
    Bun.spawnSync(['rm', '-r', next.file('data')])
    renameSync(old.file('data'), next.file('data'))
    const second = await started(next, order, port)
    const again = await send(port, key, 'after')
    // Until then it may still be checking its database.
    const healthy = await next.run({ ...order, command: ['/usr/bin/hookline', 'status'] })
    const texts = await listed(port, key)
    second.kill('SIGTERM')
    await second.exited

    expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['/usr/bin/hookline'] })
    expect([sent.status, again.status, ended]).toEqual(['sent', 'sent', 0])
    expect(healthy).toContain(NEXT)
    expect(texts.sort()).toEqual(['after', 'before'])
  },
  TEST_MS,
)

test(
  'two builds are the same, and say nothing of the folder that they were made in',
  async () => {
    const again = Bun.spawn([process.execPath, 'scripts/build.ts', '--to', builds.file('again')], {
      cwd: ROOT,
      stdout: 'ignore',
    })
    expect(await again.exited).toBe(0)

    const first = bytesOf.now()
    expect(first.equals(readFileSync(builds.file('again/hookline')))).toBe(true)
    expect(first.includes(realpathSync(ROOT))).toBe(false)
  },
  TEST_MS,
)

function packageOf(folder: ScratchFolder, version: string, executable: Uint8Array): string {
  const architecture = ARCHITECTURE
  const file = folder.file(`hookline_${version}_${executable.length}.deb`)
  if (!existsSync(file)) {
    const order = {
      version,
      repository: null,
      architecture,
      executable,
      documents: DOCUMENTS,
      ...QUICK,
    }
    Bun.spawnSync(['sh', '-c', 'cat >"$0"', file], { stdin: deb(order) })
  }
  return file
}

function asAnn(): Order {
  const environment = { HOME: '/home/ann' }
  return { user: ANN, environment, command: [] }
}

/** The order that systemd would make of the unit. */
function unitOrder(root: SmallRoot): Order {
  const unit = readFileSync(root.file(UNIT), 'utf8')
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const [start = ''] = valuesOf('ExecStart')
  const variables = valuesOf('Environment').map((text) => JSON.parse(text).split('='))
  const environment = { ...asAnn().environment, ...Object.fromEntries(variables) }
  return { user: ANN, environment, command: start.replaceAll('"', '').split(' ') }
}

/** Unpacks the only layer of an image, and gives what is run of it. */
function unpack(root: SmallRoot, version: string, executable: Uint8Array): Config {
  const library = findLibrary(ARCHITECTURE)
  if (library === null) throw new Error('There is no C library.')
  const parts = [{ architecture: ARCHITECTURE, executable, library }]
  const layout = imageLayout({ version, repository: null, documents: DOCUMENTS, parts, ...QUICK })
  const blob = (descriptor: { readonly digest: string }) =>
    Buffer.from(layout.get(`blobs/${descriptor.digest.replace(':', '/')}`) ?? '')
  const json = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString())
  const index = json(blob(json(layout.get('index.json') ?? Buffer.of()).manifests[0]))
  const manifest = json(blob(index.manifests[0]))
  const layer = gunzipSync(blob(manifest.layers[0]))
  Bun.spawnSync(['tar', '-x', '--numeric-owner', '-C', root.path], { stdin: layer })
  return json(blob(manifest.config)).config
}

function imageOrder({ User, Env, Entrypoint, Cmd }: Config, port: number): Order {
  const variables = [...Env, `HOOKLINE_PORT=${port}`, 'HOOKLINE_SIMULATED_LINES=1']
  const environment = Object.fromEntries(variables.map((text) => text.split('=')))
  return { user: Number(User.split(':')[0]), environment, command: [...Entrypoint, ...Cmd] }
}

async function started(root: SmallRoot, order: Order, port: number) {
  const child = root.start(order)
  const log = new Response(child.stderr).text()
  const isReady = async () => (await fetch(`${urlOf(port)}/readyz`)).ok
  await eventually(
    'the relay is ready',
    async () => {
      if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${await log}`)
      return (await isReady().catch(() => false)) ? true : null
    },
    60_000,
  )
  return child
}

/** Makes a key as the user of `order` does. */
async function makeKey(root: SmallRoot, order: Order): Promise<ApiKey> {
  const command = ['/usr/bin/hookline', 'keys', 'create', '--name', 'test', '--json']
  return JSON.parse(await root.run({ ...order, command }))
}

async function send(port: number, key: ApiKey, text: string): Promise<Message> {
  const api = new ApiClient(() => urlOf(port), key)
  await eventually('a line is online, and the relay serves', async () => {
    const { status, body } = await api.request('GET', '/api/v1/phone-lines')
    return status === 200 && JSON.stringify(body).includes('"status":"online"') ? true : null
  })
  return api.ask('POST', '/api/v1/messages/send', { to: '+12025550123', text })
}

/** Texts that were sent, and not what the simulated person answers. */
async function listed(port: number, key: ApiKey): Promise<string[]> {
  const api = new ApiClient(() => urlOf(port), key)
  const path = '/api/v1/messages?direction=outbound'
  const { data } = await api.ask<{ data: readonly Message[] }>('GET', path)
  return data.map(({ text }) => text)
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}
