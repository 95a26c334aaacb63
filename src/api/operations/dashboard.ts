// Operations that only browsers may call: the sign-in, and what the page needs beyond the API.

import { Type } from 'typebox'

import * as api from '../dashboard.ts'
import { CHANGE, READ, changing, reading, rows, typed } from '../operation.ts'
import { type RestoreState, type UploadedBackup, UploadId } from '../owner.ts'
import { type All, Deleted, type Page } from '../schema.ts'
import type { HomeChartData, LineChartData, WebhookChartData } from '../stats.ts'
import { DeliveryQuery } from './webhooks.ts'

const READS = { callers: 'browsers', ...READ } as const
const CHANGES = { callers: 'browsers', ...CHANGE } as const

const CostQuery = Type.Object({ to: Type.String(), phone_line_id: Type.Optional(Type.String()) })
const SiteQuery = Type.Object({ site_id: Type.Optional(Type.String()) })
const QrQuery = Type.Object({ text: Type.Optional(Type.String()) })
const UploadQuery = Type.Object({ filename: Type.String({ minLength: 1, maxLength: 255 }) })
const ChangesQuery = Type.Object({ after: Type.Optional(Type.String()) })

type OpenedSession = api.SessionState & { readonly page_key: string }

const read = reading('browsers')
const change = changing('browsers')

export const DASHBOARD = rows({
  getSession: read('GET /session', typed<api.SessionState>(), { isOpen: true, member: 'yes' }),
  /** Sets the owner's password, or a member's, with the token of a link. */
  setUp: change('POST /setup', typed<OpenedSession>(), {
    isOpen: true,
    body: api.Claim,
    member: 'yes',
    password: 'no',
    audit: 'password.set',
  }),
  signIn: change('POST /session', typed<OpenedSession>(), {
    isOpen: true,
    body: api.SignIn,
    member: 'yes',
    password: 'no',
    audit: 'session.created',
  }),
  elevate: change('POST /session/elevate', typed<api.SessionState>(), {
    body: api.Elevation,
    password: 'no',
    audit: 'session.elevated',
  }),
  changePassword: change('POST /password', typed<api.SessionState>(), {
    body: api.NewPassword,
    password: 'no',
    audit: 'password.changed',
  }),
  /** Makes a secret for an authenticator app. It takes effect once a code of the app was entered. */
  beginSecondFactor: change('POST /second-factor', typed<api.NewFactor>(), { audit: null }),
  turnOnSecondFactor: change('PUT /second-factor', typed<api.FactorOn>(), {
    body: api.FactorCode,
    audit: 'second_factor.added',
  }),
  /** Makes ten new recovery codes; the old ones end. */
  renewRecoveryCodes: change('POST /second-factor/recovery-codes', typed<api.FactorOn>(), {
    body: api.FactorCode,
    audit: 'second_factor.codes_renewed',
  }),
  turnOffSecondFactor: change('DELETE /second-factor', typed<api.SessionState>(), {
    body: api.FactorCode,
    audit: 'second_factor.removed',
  }),
  putSetupStep: change('PUT /setup-step', typed<api.SessionState>(), {
    body: api.SetupStep,
    password: 'no',
    audit: null,
  }),
  listSessions: read('GET /sessions', typed<All<api.BrowserSession>>()),
  signOut: change('DELETE /session', typed<api.SessionState>(), {
    isOpen: true,
    member: 'yes',
    password: 'no',
    audit: 'session.ended',
  }),
  /** Ends one session, in whichever browser it is. */
  endSession: change('DELETE /sessions/:id', Deleted, { password: 'no', audit: 'session.ended' }),
  signOutEverywhere: change('DELETE /sessions', typed<api.SessionState>(), {
    password: 'no',
    audit: 'session.ended',
  }),
  getAbout: read('GET /about', typed<api.About>()),
  getRelayState: read('GET /state', typed<api.RelayState>(), { compress: true, query: SiteQuery }),
  listChecks: read('GET /checks', typed<All<api.LineChecks>>(), { compress: true }),
  getAttention: read('GET /attention', typed<api.Attention>(), { query: SiteQuery }),
  getMessageTimes: read('GET /messages/:id/times', typed<api.MessageTimes>()),
  getContactCost: read('GET /contact-cost', typed<api.ContactCost>(), {
    query: CostQuery,
    member: 'yes',
  }),
  /** The number of conversations with unread messages, up to 1,000. */
  countUnread: read('GET /unread', typed<{ readonly count: number }>(), {
    member: 'yes',
    query: SiteQuery,
  }),
  listSeenDeliveries: read('GET /webhooks/:id/deliveries', typed<Page<api.SeenDelivery>>(), {
    query: DeliveryQuery,
  }),
  newTestInbox: read('GET /test-inbox', typed<{ readonly url: string }>()),
  listInbox: read('GET /webhooks/:id/inbox', typed<All<api.InboxEntry>>()),
  getInboxEntry: read('GET /webhooks/:id/inbox/:entry', typed<api.InboxRequest>()),
  listWebhookDays: read('GET /webhook-days', typed<All<api.WebhookDay>>()),
  listMessageDeliveries: read('GET /messages/:id/deliveries', typed<All<api.SeenDelivery>>()),
  getSeenDelivery: read('GET /webhook-deliveries/:id', typed<api.SeenDelivery>()),
  getSentRequest: read('GET /webhook-deliveries/:id/request', typed<api.SentRequest>()),
  getHomePictures: read('GET /pictures/home', typed<HomeChartData>(), { query: SiteQuery }),
  getLinePictures: read('GET /pictures/line/:id', typed<LineChartData>()),
  getWebhookPictures: read('GET /pictures/webhook/:id', typed<WebhookChartData>()),
  /** Answers with an image. `text` is a link that opens a new text. */
  drawQrCode: {
    ...READS,
    route: 'GET /qr',
    query: QrQuery,
    answers: {},
  },
  createDownload: change('POST /downloads', typed<{ readonly url: string }>(), {
    body: api.WantedBackup,
    audit: null,
  }),
  /** Needs a ticket in its path, because a browser sends no page key when it downloads a file. */
  download: {
    isOpen: true,
    ...READS,
    route: 'GET /downloads/:ticket',
    answers: {},
    audit: 'backup.downloaded',
  },
  getRestore: read('GET /restore', typed<RestoreState>()),
  uploadBackup: change('POST /restore', typed<UploadedBackup>(), {
    query: UploadQuery,
    takesFile: true,
    audit: null,
  }),
  startRestore: {
    ...CHANGES,
    route: 'POST /restore/start',
    answers: { 200: typed<{ readonly restoring: true }>() },
    body: UploadId,
    // The restore itself is recorded, in the restored database.
    audit: null,
  },
  discardRestore: change('DELETE /restore', typed<{ readonly deleted: true }>(), { audit: null }),
  /** Answers with a stream of events, from the position in `after`. */
  watchChanges: {
    ...READS,
    route: 'GET /events',
    query: ChangesQuery,
    answers: {},
    member: 'yes',
  },
})
