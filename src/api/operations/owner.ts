// Operations for the owner, on the command line and in the dashboard. API keys can't call them.

import { type Box, type BrokerUsersBlock, type InvitedBox, LineMove, NewBox } from '../boxes.ts'
import { type HealthFinding, NewSnooze } from '../health.ts'
import type { Conversation } from '../messages.ts'
import { CHANGE, READ, NO_BODY, changing, reading, rows, typed } from '../operation.ts'
import * as api from '../owner.ts'
import { Adoption, type PhoneLine } from '../phone-lines.ts'
import { type All, type Deleted } from '../schema.ts'

const READS = { callers: 'owner', ...READ } as const
const CHANGES = { callers: 'owner', ...CHANGE } as const

const read = reading('owner')
const change = changing('owner')

export const OWNER = rows({
  adoptPhoneLine: change('POST /phone-lines/:id/adopt', typed<PhoneLine>(), {
    body: Adoption,
    audit: 'line.adopted',
  }),
  movePhoneLine: change('POST /phone-lines/:id/move', typed<PhoneLine>(), {
    body: LineMove,
    audit: 'line.moved',
  }),
  /** Answers with a page in HTML. */
  getPoster: { ...READS, route: 'GET /phone-lines/:id/poster', answers: {} },
  separateConversation: change('POST /conversations/:id/separate', typed<Conversation>(), {
    ...NO_BODY,
    audit: 'conversation.separated',
  }),
  listSettings: read('GET /settings', typed<All<api.Setting>>(), { compress: true }),
  putSetting: change('PUT /settings/:name', typed<api.Setting>(), {
    body: api.NewValue,
    audit: 'setting.changed',
  }),
  putSnooze: change('PUT /snoozes', typed<HealthFinding>(), {
    body: NewSnooze,
    password: 'no',
    audit: 'finding.snoozed',
  }),
  getLog: read('GET /log', typed<api.RecentLog>()),
  getUpdateState: read('GET /update-check', typed<api.UpdateState>()),
  checkUpdate: change('POST /update-check', typed<api.UpdateState>(), {
    ...NO_BODY,
    password: 'no',
    audit: null,
  }),
  listBackups: read('GET /backups', typed<All<api.Backup>>()),
  /** A backup contains everything. */
  downloadBackup: {
    ...READS,
    route: 'GET /backups/:name',
    answers: {},
    password: 'yes',
    audit: 'backup.downloaded',
  },
  createBackup: change('POST /backup', typed<api.MadeBackup>(), {
    body: api.NewBackup,
    isBodyOptional: true,
    password: 'no',
    audit: 'backup.created',
  }),
  listMembers: read('GET /members', typed<All<api.Member>>()),
  createMember: {
    ...CHANGES,
    route: 'POST /members',
    answers: { 201: typed<api.InvitedMember>() },
    body: api.NewMember,
    audit: 'member.created',
  },
  renewMemberLink: change('POST /members/:id/link', typed<api.InvitedMember>(), {
    ...NO_BODY,
    audit: 'member.link_created',
  }),
  updateMember: change('PATCH /members/:id', typed<api.Member>(), {
    body: api.MemberChanges,
    audit: 'member.changed',
  }),
  deleteMember: change('DELETE /members/:id', typed<Deleted>(), { audit: 'member.removed' }),
  listBoxes: read('GET /boxes', typed<All<Box>>()),
  listBrokerUsers: read('GET /broker-users', typed<BrokerUsersBlock>()),
  inviteBox: {
    ...CHANGES,
    route: 'POST /boxes',
    answers: { 201: typed<InvitedBox>() },
    body: NewBox,
    audit: 'box.invited',
  },
  renameBox: change('PATCH /boxes/:id', typed<Box>(), { body: NewBox, audit: 'box.renamed' }),
  deleteBox: change('DELETE /boxes/:id', typed<Deleted>(), { audit: 'box.removed' }),
})
