// Operations of the owner, on the command line and in the dashboard: never with a key.

import { type Box, type BrokerUsersBlock, type InvitedBox, LineMove, NewBox } from '../boxes.ts'
import { type HealthFinding, NewSnooze } from '../health.ts'
import type { Conversation } from '../messages.ts'
import { CHANGE, READ, NO_BODY, reading, rows, typed } from '../operation.ts'
import {
  type Backup,
  type InvitedMember,
  type MadeBackup,
  type Member,
  NewBackup,
  NewMember,
  NewValue,
  type RecentLog,
  type Setting,
  type UpdateState,
} from '../owner.ts'
import { Adoption, type PhoneLine } from '../phone-lines.ts'
import { type All, type Deleted } from '../schema.ts'

const READS = { callers: 'owner', ...READ } as const
const CHANGES = { callers: 'owner', ...CHANGE } as const

const read = reading('owner')

export const OWNER = rows({
  adoptPhoneLine: {
    ...CHANGES,
    route: 'POST /phone-lines/:id/adopt',
    answers: { 200: typed<PhoneLine>() },
    body: Adoption,
    audit: 'line.adopted',
  },
  movePhoneLine: {
    ...CHANGES,
    route: 'POST /phone-lines/:id/move',
    answers: { 200: typed<PhoneLine>() },
    body: LineMove,
    audit: 'line.moved',
  },
  separateConversation: {
    ...CHANGES,
    route: 'POST /conversations/:id/separate',
    answers: { 200: typed<Conversation>() },
    ...NO_BODY,
    audit: 'conversation.separated',
  },
  listSettings: {
    ...READS,
    route: 'GET /settings',
    answers: { 200: typed<All<Setting>>() },
    compress: true,
  },
  putSetting: {
    ...CHANGES,
    route: 'PUT /settings/:name',
    answers: { 200: typed<Setting>() },
    body: NewValue,
    audit: 'setting.changed',
  },
  putSnooze: {
    ...CHANGES,
    route: 'PUT /snoozes',
    answers: { 200: typed<HealthFinding>() },
    body: NewSnooze,
    password: 'no',
    audit: 'finding.snoozed',
  },
  getLog: read('GET /log', typed<RecentLog>()),
  getUpdateState: read('GET /update-check', typed<UpdateState>()),
  checkUpdate: {
    ...CHANGES,
    route: 'POST /update-check',
    answers: { 200: typed<UpdateState>() },
    ...NO_BODY,
    password: 'no',
    audit: null,
  },
  listBackups: read('GET /backups', typed<All<Backup>>()),
  /** A backup contains everything. */
  downloadBackup: {
    ...READS,
    route: 'GET /backups/:name',
    answers: {},
    password: 'yes',
    audit: 'backup.downloaded',
  },
  createBackup: {
    ...CHANGES,
    route: 'POST /backup',
    answers: { 200: typed<MadeBackup>() },
    body: NewBackup,
    isBodyOptional: true,
    password: 'no',
    audit: 'backup.created',
  },
  listMembers: read('GET /members', typed<All<Member>>()),
  createMember: {
    ...CHANGES,
    route: 'POST /members',
    answers: { 201: typed<InvitedMember>() },
    body: NewMember,
    audit: 'member.created',
  },
  renewMemberLink: {
    ...CHANGES,
    route: 'POST /members/:id/link',
    answers: { 200: typed<InvitedMember>() },
    ...NO_BODY,
    audit: 'member.link_created',
  },
  deleteMember: {
    ...CHANGES,
    route: 'DELETE /members/:id',
    answers: { 200: typed<Deleted>() },
    audit: 'member.removed',
  },
  listBoxes: read('GET /boxes', typed<All<Box>>()),
  listBrokerUsers: read('GET /broker-users', typed<BrokerUsersBlock>()),
  inviteBox: {
    ...CHANGES,
    route: 'POST /boxes',
    answers: { 201: typed<InvitedBox>() },
    body: NewBox,
    audit: 'box.invited',
  },
  renameBox: {
    ...CHANGES,
    route: 'PATCH /boxes/:id',
    answers: { 200: typed<Box>() },
    body: NewBox,
    audit: 'box.renamed',
  },
  deleteBox: {
    ...CHANGES,
    route: 'DELETE /boxes/:id',
    answers: { 200: typed<Deleted>() },
    audit: 'box.removed',
  },
})
