// The head's broker: a nats-server that it starts, or a cluster that the owner runs.

import { readFileSync } from 'node:fs'

import { RelayError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import type { OptionValues } from '../domain/option.ts'
import { NEVER, whenAborted } from '../system/clock.ts'
import { ownAddresses } from '../system/network-address.ts'
import { accountBlock, HEAD_INBOX, type BrokerUsers } from './broker-config.ts'
import { Broker, type BrokerOptions } from './broker.ts'
import { joinAddresses, type JoinToken } from './enrolment.ts'
import type { Link } from './link.ts'
import type { NatsLink, NatsOptions } from './nats-link.ts'
import { brokerFinding, findNatsServer, type BrokerMachine } from './nats-server.ts'
import { type NkeyPair, publicKeyOf } from './nkeys.ts'
import type { BROKER_OPTIONS } from './options.ts'

export type HeadBroker = {
  /** Facts for a token; throws `broker_unavailable` if no box could connect. */
  prepare(): Promise<Omit<JoinToken, 'id' | 'seed'>>
  /** Runs the broker, if the head has its own, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
  connect(): Promise<Link>
  /** Nkey of the head, by which boxes know it. */
  key(): Promise<NkeyPair>
  /** Lets the current boxes connect, and cuts off all others; false if that fails. */
  apply(): Promise<boolean>
  /** The account and its users, as text for the configuration of nats-server. */
  users(): Promise<string>
  findings(): readonly Finding[]
}

type Options = OptionValues<typeof BROKER_OPTIONS> & { readonly publicUrl: string | null }

type Host = {
  readonly machine: BrokerMachine
  readonly directory: BrokerOptions['directory']
  /** All users that may connect now. */
  readonly users: () => BrokerUsers
}

export function createHeadBroker(options: Options, host: Host): HeadBroker {
  const { broker: servers } = options
  return servers === null ? ownBroker(options, host) : clusterOf(servers, options, host)
}

function ownBroker(
  { natsServer, brokerPort: port, publicUrl }: Options,
  { machine, directory, users }: Host,
): HeadBroker {
  const broker = new Broker({ directory, port, program: natsServer, users }, machine)
  return {
    run: (signal) => broker.run(signal),
    apply: () => broker.apply(),
    findings: () => broker.findings(),
    async prepare() {
      const found = await findNatsServer(natsServer, machine, NEVER)
      if ('code' in found) throw unavailable(`${found.title}. ${found.why} ${found.fix}`)
      const { ca } = await broker.access()
      const addresses = joinAddresses(ownAddresses(), port, publicUrl)
      return { kind: 'invitation', addresses, ca, headKey: null }
    },
    connect: async () => connected(await broker.access(), machine),
    key: () => broker.access(),
    async users() {
      const { publicKey: head } = await broker.access()
      return accountBlock({ ...users(), head })
    },
  }
}

function clusterOf(
  servers: readonly string[],
  { brokerCa, brokerSeed }: Options,
  { machine, users }: Host,
): HeadBroker {
  let link: NatsLink | null = null
  const seed = () => {
    if (brokerSeed !== null) return brokerSeed
    throw unavailable('HOOKLINE_BROKER needs HOOKLINE_BROKER_SEED: make one with "nk -gen user".')
  }
  const key = async () => ({ seed: seed(), publicKey: await publicKeyOf(seed()) })
  const ca = () => (brokerCa === null ? null : readFileSync(brokerCa, 'utf8'))
  return {
    // The cluster's owner changes its users.
    apply: async () => true,
    run: async (signal) => void (await whenAborted(signal)),
    async prepare() {
      const { publicKey: headKey } = await key()
      return { kind: 'direct', addresses: servers, ca: ca(), headKey }
    },
    key,
    async connect() {
      const way = { servers, ca: ca(), serverName: null, seed: seed(), inboxPrefix: HEAD_INBOX }
      return (link = await connected({ ...way, needsOwnAccount: true }, machine))
    },
    users: async () => accountBlock({ ...users(), head: (await key()).publicKey }),
    findings() {
      const problem = link?.status().problem ?? null
      return problem === null ? [] : [clusterFinding(problem, servers)]
    },
  }
}

async function connected(
  way: Omit<NatsOptions, 'name'>,
  machine: BrokerMachine,
): Promise<NatsLink> {
  const { connectNats } = await import('./nats-link.ts')
  return connectNats({ ...way, name: 'head' }, machine)
}

const CLUSTER_PROBLEMS = {
  unreachable: 'None of its servers answers.',
  untrusted: 'Its certificate is not signed by an authority that this machine trusts.',
  refused: "It refuses the relay's key.",
  shared:
    'It does not say that the relay has an account of its own. In a shared one, every program could read all messages and give orders to boxes.',
} as const

function clusterFinding(
  problem: keyof typeof CLUSTER_PROBLEMS,
  servers: readonly string[],
): Finding {
  return brokerFinding(problem === 'shared' ? 'broker_shared' : 'broker_unreachable', {
    title: 'The broker of your boxes can’t be used',
    why: `${CLUSTER_PROBLEMS[problem]} (${servers.join(', ')})`,
    fix:
      problem === 'shared'
        ? 'Put what "hookline boxes config" prints into the configuration of each server, in place of the users with the same keys (under "authorization", or in another account). Then reload the servers. The boxes stay joined.'
        : 'Check the cluster, its account HOOKLINE ("hookline boxes config") and the options that begin with HOOKLINE_BROKER.',
  })
}

function unavailable(message: string): RelayError {
  return new RelayError('broker_unavailable', message)
}
