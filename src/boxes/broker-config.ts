// The configuration of nats-server, with the rights of its users: the server refuses everything that isn't listed.

import { PAYLOAD_BYTES_MAX, SUBJECTS } from './link.ts'

/** A box or an invitation: its id is a part of its subjects, and it signs in with its key. */
export type BrokerUser = {
  readonly id: string
  /** Public nkey: `U…`. */
  readonly nkey: string
}

export type BrokerUsers = {
  readonly boxes: readonly BrokerUser[]
  /** Invitations that a machine may still join with. */
  readonly invitations: readonly BrokerUser[]
}

export type BrokerSettings = BrokerUsers & {
  readonly port: number
  readonly files: {
    readonly server: string
    /** Serial number of that certificate: a renewed one makes another configuration. */
    readonly serial: string
    readonly pid: string
  }
  readonly head: string
}

/** Prefix of the subjects on which a user gets its answers. */
export const inboxOf = (id: string) => `_INBOX_${id}`
export const HEAD_INBOX = inboxOf('head')

/** One answer to each request, within two minutes. */
const ANSWERS = '{ max: 1, expires: "2m" }'
/** A few for each user, since a dead connection is noticed late. */
const CONNECTIONS_OF_USER = 8
const ACCOUNT = 'HOOKLINE'
/** The server answers a request on this subject with the user's account. */
export const ACCOUNT_SUBJECT = '$SYS.REQ.USER.INFO'

export function brokerConfig({ port, files, head, boxes, invitations }: BrokerSettings): string {
  const quote = (text: string) => JSON.stringify(text)
  return `# Written by Hookline at each start, and when boxes change.
server_name: hookline
listen: "0.0.0.0:${port}"
pid_file: ${quote(files.pid)}
logtime: false
max_payload: ${PAYLOAD_BYTES_MAX}
max_connections: 4096
write_deadline: "5s"
ping_interval: "5s"
ping_max: 2
tls {
  cert_file: ${quote(files.server)}
  key_file: ${quote(files.server)} # ${files.serial}
  handshake_first: true
  timeout: 5
}
authorization { timeout: 5 }
${accountBlock({ head, boxes, invitations })}
`
}

/** The relay's account, also in the owner's cluster: it has no other users, and nothing is imported or exported. */
export function accountBlock({
  head,
  boxes,
  invitations,
}: Pick<BrokerSettings, 'head' | 'boxes' | 'invitations'>): string {
  const users = [...boxes, ...invitations]
  const lines = [
    userOfHead(head, users),
    ...boxes.map(userOfBox),
    ...invitations.map(userOfInvitation),
  ]
  return `accounts {
${ACCOUNT} {
  limits { max_connections: ${(1 + users.length) * CONNECTIONS_OF_USER} }
  users: [
${lines.join('\n')}
  ]
}
}`
}

/**
 * Lets the head publish to each user's inbox. The permission to answer isn't enough: a machine that joins causes a
 * reload, which withdraws that permission, and the head answers the machine only after the reload.
 */
function userOfHead(nkey: string, users: readonly BrokerUser[]): string {
  const all = 'hl.1.>'
  const inboxes = users.map(({ id }) => `${inboxOf(plain(id))}.>`)
  const publish = [all, ACCOUNT_SUBJECT, ...inboxes]
  return userOf(nkey, { publish, subscribe: [all, `${HEAD_INBOX}.>`], answers: false })
}

function userOfBox({ id, nkey }: BrokerUser): string {
  const own = plain(id)
  const publish = [SUBJECTS.hello(own), SUBJECTS.up('*', own)]
  const subscribe = [SUBJECTS.to(own, '>'), `${inboxOf(own)}.>`]
  return userOf(nkey, { publish, subscribe, answers: true })
}

function userOfInvitation({ id, nkey }: BrokerUser): string {
  const own = plain(id)
  const subscribe = [`${inboxOf(own)}.>`]
  return userOf(nkey, { publish: [SUBJECTS.join(own)], subscribe, answers: false })
}

type Rights = {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
  readonly answers: boolean
}

function userOf(nkey: string, { publish, subscribe, answers }: Rights): string {
  const list = (subjects: readonly string[]) => subjects.map((one) => `"${one}"`).join(', ')
  return `    { nkey: ${plain(nkey)}, permissions: {
      publish: [${list(publish)}]
      subscribe: [${list(subscribe)}]${answers ? `, allow_responses: ${ANSWERS}` : ''} } }`
}

/** A wildcard, a dot or a quote in an id would give its user rights to the subjects of others. */
function plain(id: string): string {
  if (/^[\w-]+$/.test(id)) return id
  throw new Error(`${JSON.stringify(id)} cannot be the id or the key of a box.`)
}
