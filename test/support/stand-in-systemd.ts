// Stands in for systemctl and systemd-run of a user, whose home is HOME: starts and stops real processes by the
// unit in that home, and forgets nothing between its calls. A process that a unit has started is no child of it.

import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const [tool = '', ...args] = process.argv.slice(2)
const home = process.env['HOME'] ?? ''
const words = args.filter((word) => word !== '--user')

if (basename(tool) === 'systemd-run') runBeside()
else await control(words[0] ?? '')

async function control(verb: string): Promise<void> {
  if (verb === 'start' && running('service') === null) start()
  if (verb === 'stop' || (verb === 'disable' && words.includes('--now'))) await stop()
  if (verb !== 'show') return
  const pid = running('service')
  process.stdout.write(`MainPID=${pid ?? 0}\nActiveState=${pid === null ? 'inactive' : 'active'}\n`)
}

function start(): void {
  const unit = readFileSync(join(home, '.config/systemd/user/hookline.service'), 'utf8')
  const [, executable = '', task = ''] = /^ExecStart="(.*)" (\w+)$/m.exec(unit) ?? []
  const variables = [...unit.matchAll(/^Environment="(.*?)=(.*)"$/gm)]
  const environment = Object.fromEntries(variables.map(([, name, value]) => [name, value]))
  launch('service', [executable, task], environment)
}

async function stop(): Promise<void> {
  const pid = running('service')
  if (pid === null) return
  process.kill(pid, 'SIGTERM')
  while (running('service') !== null) await Bun.sleep(20)
  rmSync(place('service'))
}

function runBeside(): void {
  if (running('beside') !== null) {
    process.stderr.write('Unit hookline-upgrade.service already exists.\n')
    process.exit(1)
  }
  const output = args.find((word) => word.startsWith('--property=StandardOutput=file:'))
  const path = output?.slice(output.indexOf(':') + 1) ?? '/dev/null'
  launch('beside', args.slice(args.indexOf('--') + 1), {}, path)
}

function launch(
  name: string,
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  path = join(home, `${name}.log`),
): void {
  const file = openSync(path, 'a')
  const env = { PATH: process.env['PATH'], HOME: home, ...environment }
  const outputs = { stdin: 'ignore', stdout: file, stderr: file } as const
  const child = Bun.spawn([...command], { cwd: '/', env, ...outputs, detached: true })
  child.unref()
  writeFileSync(place(name), String(child.pid))
}

/** Null if it has ended, even if nobody has waited for it yet. */
function running(name: string): number | null {
  if (!existsSync(place(name))) return null
  const pid = Number(readFileSync(place(name), 'utf8'))
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]
    return state?.startsWith('Z') === true ? null : pid
  } catch {
    return null
  }
}

function place(name: string): string {
  return join(home, `${name}.pid`)
}
