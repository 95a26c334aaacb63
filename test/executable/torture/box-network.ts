// A network of Linux namespaces: this one with the head, and one for each box, joined by a bridge. Each box's
// way can be cut, in one direction or both.

import { networkInterfaces } from 'node:os'

export type Cut = 'both' | 'from_box' | 'to_box'

/** Nobody has it: the bridge floods what is sent there, and all drop it. */
const NOWHERE = '02:00:00:00:00:99'

/** True for root on a Linux with `ip`. */
export function hasNamespaces(): boolean {
  if (process.getuid?.() !== 0 || Bun.which('ip') === null) return false
  const name = `hl-${process.pid}-try`
  const isMade = Bun.spawnSync(['ip', 'netns', 'add', name]).exitCode === 0
  if (isMade) ip('netns', 'del', name)
  return isMade
}

export class BoxNetwork implements Disposable {
  /** Address of the head for boxes. */
  readonly address: string
  readonly #subnet: string
  readonly #bridge = `hl${process.pid}`
  readonly #boxes: readonly string[]

  /** `boxes` are their names. */
  constructor(boxes: readonly string[]) {
    this.#boxes = boxes
    this.#subnet = freeSubnet()
    this.address = `${this.#subnet}.1`
    ip('link', 'add', this.#bridge, 'type', 'bridge')
    ip('addr', 'add', `${this.address}/24`, 'dev', this.#bridge)
    ip('link', 'set', this.#bridge, 'up')
    for (const box of boxes) this.#add(box)
  }

  /** The prefix of a command that runs a process in the network of this one. */
  under(name: string): readonly string[] {
    return this.#boxes.includes(name) ? ['ip', 'netns', 'exec', this.#namespace(name)] : []
  }

  cut(box: string, cut: Cut): void {
    const to = ['lladdr', NOWHERE, 'nud', 'permanent', 'dev']
    if (cut === 'both') ip('link', 'set', this.#port(box), 'down')
    else if (cut === 'to_box') ip('neigh', 'replace', this.#addressOf(box), ...to, this.#bridge)
    else ip('-n', this.#namespace(box), 'neigh', 'replace', this.address, ...to, 'eth0')
  }

  mend(box: string, cut: Cut): void {
    if (cut === 'both') ip('link', 'set', this.#port(box), 'up')
    else if (cut === 'to_box') ip('neigh', 'del', this.#addressOf(box), 'dev', this.#bridge)
    else ip('-n', this.#namespace(box), 'neigh', 'del', this.address, 'dev', 'eth0')
  }

  [Symbol.dispose](): void {
    for (const box of this.#boxes) ip('netns', 'del', this.#namespace(box))
    ip('link', 'del', this.#bridge)
  }

  #add(box: string): void {
    const namespace = this.#namespace(box)
    ip('netns', 'add', namespace)
    ip('-n', namespace, 'link', 'set', 'lo', 'up')
    const port = this.#port(box)
    ip('link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    ip('link', 'set', port, 'master', this.#bridge, 'up')
    ip('-n', namespace, 'addr', 'add', `${this.#addressOf(box)}/24`, 'dev', 'eth0')
    ip('-n', namespace, 'link', 'set', 'eth0', 'up')
  }

  #namespace(box: string): string {
    return `hl-${process.pid}-${box}`
  }

  /** Its end at the bridge. */
  #port(box: string): string {
    return `${this.#bridge}p${this.#boxes.indexOf(box)}`
  }

  #addressOf(box: string): string {
    return `${this.#subnet}.${this.#boxes.indexOf(box) + 2}`
  }
}

function freeSubnet(): string {
  const taken = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const subnets = Array.from({ length: 254 }, (_, index) => `10.213.${index + 1}`)
  const isFree = (subnet: string) => !taken.some(({ address }) => address.startsWith(`${subnet}.`))
  const found = subnets.find(isFree)
  if (found === undefined) throw new Error('No subnet is free.')
  return found
}

function ip(...args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['ip', ...args])
  if (exitCode !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.toString()}`)
}
