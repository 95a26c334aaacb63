// Configuration of nats-server, and the rights of each of its users: with nothing but a list of what is
// allowed, the server refuses all else.

import { PAYLOAD_BYTES_MAX, SUBJECTS } from './link.ts'

/** Box or invitation: its id is a part of its subjects, and its public key is how it signs in. */
export type BrokerUser = {
  readonly id: string
  /** Public nkey: `U…`. */
  readonly nkey: string
}

export type BrokerUsers = {
  readonly boxes: readonly BrokerUser[]
  /** Those that a machine may still join with. */
  readonly invitations: readonly BrokerUser[]
}

export type BrokerSettings = BrokerUsers & {
  readonly port: number
  readonly files: {
    /** Certificate with its key. */
    readonly server: string
    /** Serial number of that certificate: another one is another configuration. */
    readonly serial: string
    readonly pid: string
  }
  /** Public nkey of the head. */
  readonly head: string
}

/** Prefix of the subjects on which a user gets its answers. */
export const inboxOf = (id: string) => `_INBOX_${id}`
export const HEAD_INBOX = inboxOf('head')

/** One answer to each request, so long after it. */
const ANSWERS = '{ max: 1, expires: "2m" }'
const WRITE_DEADLINE = '5s'
const PING_INTERVAL = '5s'
const CONNECTIONS_MAX = 4_096
/** Connections of the account: a few for each user, since a dead one is noticed late. */
const CONNECTIONS_OF_USER = 8
const ACCOUNT = 'HOOKLINE'
/** Answers a user with its account. */
export const ACCOUNT_SUBJECT = '$SYS.REQ.USER.INFO'

export function brokerConfig({ port, files, head, boxes, invitations }: BrokerSettings): string {
  const quote = (text: string) => JSON.stringify(text)
  return `# Written by Hookline at each start, and when boxes change.
server_name: hookline
listen: "0.0.0.0:${port}"
pid_file: ${quote(files.pid)}
logtime: false
max_payload: ${PAYLOAD_BYTES_MAX}
max_connections: ${CONNECTIONS_MAX}
write_deadline: "${WRITE_DEADLINE}"
ping_interval: "${PING_INTERVAL}"
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

type Users = Pick<BrokerSettings, 'head' | 'boxes' | 'invitations'>

/** The account of the relay, also in a cluster of its owner: nobody else is in it, and nothing leads in or out. */
export function accountBlock(users: Users): string {
  const count = 1 + users.boxes.length + users.invitations.length
  return `accounts {
${ACCOUNT} {
  limits { max_connections: ${count * CONNECTIONS_OF_USER} }
${usersBlock(users)}
}
}`
}

function usersBlock({ head, boxes, invitations }: Users): string {
  const users = [...boxes, ...invitations]
  return `  users: [
${[userOfHead(head, users), ...boxes.map(userOfBox), ...invitations.map(userOfInvitation)].join('\n')}
  ]`
}

/**
 * The head may answer each user by name: a reload takes back the permission to answer requests that were
 * delivered before it, and a machine that joins is answered after one.
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

/** A wildcard, a dot or a quote in an id would be a right to more than its own. */
function plain(id: string): string {
  if (/^[\w-]+$/.test(id)) return id
  throw new Error(`${JSON.stringify(id)} cannot be the id or the key of a box.`)
}
