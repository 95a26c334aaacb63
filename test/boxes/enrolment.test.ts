// Tokens and joining, with a real nats-server where both ends meet.

import { expect, test } from 'bun:test'

import { keepCertificates } from '../../src/boxes/certificates.ts'
import {
  decideJoin,
  join,
  joinAddresses,
  readToken,
  serveJoins,
  writeToken,
  type Invitation,
  type JoinAnswer,
  type JoinRequest,
} from '../../src/boxes/enrolment.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { NEVER, systemClock } from '../../src/system/clock.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { eventually } from '../support/eventually.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { BrokerRig, natsTools } from '../support/nats.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const withServer = testNeeding(A_BROKER, NATS_SERVER !== null)
const MINUTE_MS = 60_000
const INVITATION = 'join-box_01m8aj49g7e0084cqdvr6wp4zb'
const MACHINE = { name: 'studio.local', version: '1.2.3', platform: 'darwin' }

function otherAuthority(): string {
  using folder = new ScratchFolder()
  return keepCertificates(dataDirectoryAt(folder.path), natsTools).ca
}

/** A clock on which time-outs of the product pass twenty times as fast. */
const fastClock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * 20,
  after: (ms: number, act: () => void) => systemClock.after(ms / 20, act),
  sleep: (ms: number, signal: AbortSignal) => systemClock.sleep(ms / 20, signal),
}

/** A token that invites to `id`, and the public key of its seed. */
async function invite(given: {
  readonly id: string
  readonly addresses: readonly string[]
  readonly ca: string | null
}) {
  const { seed, publicKey } = await makeKey()
  return { publicKey, token: writeToken({ kind: 'invitation', seed, headKey: null, ...given }) }
}

/** A head with its broker, its invitations and its boxes in memory. */
class Head implements AsyncDisposable {
  readonly rig: BrokerRig
  readonly requests: JoinRequest[] = []
  invitation: Invitation | null = null
  #boxes = 0

  constructor(rig: BrokerRig) {
    this.rig = rig
  }

  static async start(): Promise<Head> {
    const head = new Head(await BrokerRig.start())
    const link = await head.rig.connect({})
    const accept = async (request: JoinRequest) => head.#accept(request)
    const { publicKey: key } = await head.rig.broker.access()
    serveJoins(link, { name: 'office', key, accept, apply: () => head.rig.broker.apply() })
    return head
  }

  async invite(): Promise<string> {
    const { ca } = await this.rig.broker.access()
    const addresses = [`127.0.0.1:${this.rig.port}`]
    const { publicKey: nkey, token } = await invite({ id: INVITATION, addresses, ca })
    const expiresAt = timestamp(natsTools.clock.now() + MINUTE_MS)
    this.invitation = { expiresAt, usedBy: null }
    this.rig.users.invitations = [{ id: INVITATION, nkey }]
    await this.rig.broker.apply()
    return token
  }

  #accept(request: JoinRequest): JoinAnswer {
    this.requests.push(request)
    const now = timestamp(natsTools.clock.now())
    const decision = decideJoin(this.invitation, request, now)
    if (decision !== 'new' || this.invitation === null) return decision as JoinAnswer // Not new.
    const boxId = `box_${(this.#boxes += 1)}`
    this.invitation = { ...this.invitation, usedBy: { publicKey: request.publicKey, boxId } }
    this.rig.users.boxes = [{ id: boxId, nkey: request.publicKey }]
    return { boxId }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.rig[Symbol.asyncDispose]()
  }
}

withServer(
  'a token lets one machine in, which may ask again, as long as the broker knows it',
  async () => {
    await using head = await Head.start()
    const token = await head.invite()
    const [key, other] = [await makeKey(), await makeKey()]
    const joinWith = (own: typeof key, clock = systemClock) =>
      join(token, { ...MACHINE, key: own }, { ...natsTools, clock }, NEVER)

    const joined = await joinWith(key)
    if ('problem' in joined) throw new Error(joined.problem)
    const { seed, ca, serverName, boxId } = joined
    const box = await head.rig.connectBox(boxId, seed, { ca, serverName })
    const [again, refused] = [await joinWith(key), await joinWith(other)]
    head.rig.users.invitations = []
    await head.rig.broker.apply()
    // Its time never ends: it is the broker's word that ends the wait.
    const unknown = await joinWith(key, { ...systemClock, monotonic: () => 0 })

    const { publicKey: headKey } = await head.rig.broker.access()
    expect(joined).toMatchObject({ boxId: 'box_1', headName: 'office', headKey, seed: key.seed })
    expect(box.status().isConnected).toBe(true)
    const request = { invitation: INVITATION, publicKey: key.publicKey, ...MACHINE, signs: true }
    expect(head.requests[0]).toEqual(request)
    expect(token).not.toContain(key.seed)
    expect(again).toEqual(joined)
    expect([refused, unknown]).toEqual([
      { problem: 'The invitation was used already. Create a new one.' },
      { problem: 'The invitation has expired or was withdrawn. Create a new one on the head.' },
    ])
  },
)

withServer('another machine at the address, and none at all, are problems in words', async () => {
  await using rig = await BrokerRig.start()
  const seed = await rig.addBox('b')
  const key = await makeKey()
  const address = `127.0.0.1:${rig.port}`
  const tools = { ...natsTools, clock: fastClock }
  const joinAt = async (ca: string | null) => {
    const { token } = await invite({ id: INVITATION, addresses: [address], ca })
    return join(token, { ...MACHINE, key }, tools, NEVER)
  }
  const { ca } = await rig.broker.access()
  // The token of a cluster, whose certificate has the name of its address: ours has another one.
  const direct = writeToken({
    kind: 'direct',
    addresses: [address],
    id: 'b',
    seed,
    ca,
    headKey: key.publicKey,
  })

  const silent = `Nothing answers at ${address}. Check that the head runs and that its port is open to this network.`
  // A busy machine may take longer to answer than the fast clock waits.
  const answered = (what: string, attempt: () => ReturnType<typeof join>) =>
    eventually(what, async () => {
      const result = await attempt()
      return 'problem' in result && result.problem === silent ? null : result
    })
  const others = [
    await answered('an invitation of another machine', () => joinAt(otherAuthority())),
    await answered('a token of a cluster', () => join(direct, { ...MACHINE, key }, tools, NEVER)),
  ]
  await rig.stop()
  const nobody = await joinAt(ca)

  const problem = `The machine at ${address} is not the one that made this token: its certificate differs.`
  expect(others).toEqual([{ problem }, { problem }])
  expect(nobody).toEqual({ problem: silent })
})

test('a token is short, survives wrapping, and says when a part of it is missing', async () => {
  const ca = otherAuthority()
  const addresses = ['relay.example.org', '192.168.178.20', '100.64.0.7', '10.0.0.4'].map(
    (host) => `${host}:4666`,
  )
  const { token } = await invite({ id: INVITATION, addresses, ca })
  const problemOf = (text: string) => {
    const read = readToken(text)
    return 'problem' in read ? read.problem : null
  }

  const read = readToken(` ${token.replaceAll(/.{76}/g, '$&\n  ')}\n`)

  expect(token.length).toBeLessThan(740)
  expect(read).toMatchObject({ kind: 'invitation', addresses, id: INVITATION, ca })
  const cut = [5, 40, 300, token.length - 1].map((length) => token.slice(0, length))
  expect(new Set(cut.map(problemOf))).toEqual(new Set(['The token is incomplete: copy all of it.']))
  const changed = token.replace(/(?<=^.{300})./, (one) => (one === 'A' ? 'B' : 'A'))
  expect(problemOf(changed)).toBe('The token is incomplete: copy all of it.')
  expect(problemOf('hlk_x')).toBe('This is no token to join with: it starts with hlj_.')
  expect(problemOf(`hlj_${Buffer.of(3, 1, 1).toString('base64url')}`)).toContain('newer Hookline')
})

test('a token may carry several certificates and the key of its head, or none', async () => {
  const { seed, publicKey } = await makeKey()
  const token = { kind: 'direct', addresses: ['a:1'], id: 'one', seed } as const

  for (const headKey of [publicKey, null]) {
    for (const ca of [otherAuthority() + otherAuthority(), null]) {
      const whole = { ...token, ca, headKey }
      expect(readToken(writeToken(whole))).toEqual(whole)
    }
  }
})

test('a token names the addresses that another machine may reach', () => {
  const own = (list: Record<string, string>) =>
    Object.entries(list).map(([address, name]) => ({ address, interface: name }))
  const all = own({
    'fd00::7': 'en0',
    '192.168.1.20': 'en0',
    'fe80::1': 'en0',
    '172.17.0.1': 'docker0',
    '100.64.0.7': 'utun4',
    '169.254.3.3': 'en5',
  })

  expect(joinAddresses(all, 4_666, 'https://relay.example.org')).toEqual([
    'relay.example.org:4666',
    '192.168.1.20:4666',
    '100.64.0.7:4666',
    '[fd00::7]:4666',
  ])
  expect(joinAddresses([], 4_666, null)).toEqual(['127.0.0.1:4666'])
})

test('an invitation is good once and for its time, and its answer stays', () => {
  const invitation: Invitation = { expiresAt: timestamp(MINUTE_MS), usedBy: null }
  const request = { invitation: INVITATION, publicKey: 'UA', ...MACHINE, signs: true }
  const used = { ...invitation, usedBy: { publicKey: 'UA', boxId: 'box_1' } }
  const at = (ms: number) => timestamp(invitation.expiresAt + ms)

  expect([
    decideJoin(invitation, request, at(-1)),
    decideJoin(invitation, request, at(0)),
    decideJoin(used, request, at(MINUTE_MS)),
    decideJoin(used, { ...request, publicKey: 'UB' }, at(-1)),
    decideJoin(null, request, at(-1)),
  ]).toEqual([
    'new',
    { refused: 'The invitation has expired. Create a new one.' },
    { boxId: 'box_1' },
    { refused: 'The invitation was used already. Create a new one.' },
    { refused: 'The invitation was withdrawn.' },
  ])
})
