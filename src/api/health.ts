import { Type } from 'typebox'

import { FINDING_SEVERITIES, SUBJECT_KINDS } from '../domain/finding.ts'
import { ISO_TIME, enumOf, id, nullable, objectSchema, time, text, type Shape } from './schema.ts'

export const HealthFinding = objectSchema('HealthFinding', {
  code: Type.String(),
  severity: enumOf('Severity', FINDING_SEVERITIES),
  title: text('The problem in a few words.'),
  why: text('What it means.'),
  fix: text('What the owner can do.'),
  line_id: nullable(id('line', 'The line concerned.')),
  about: objectSchema('FindingSubject', {
    kind: enumOf('FindingSubjectKind', SUBJECT_KINDS, 'The kind of thing that it is about.'),
    id: nullable(text('Its id; null for the relay itself.')),
  }),
  since: time('When it was first found about this thing.'),
  depends_on: nullable(text('The code of the finding that explains it.')),
  boxes: Type.Optional(Type.Array(id('box', 'A box that it was found on.'))),
  snoozed_until: Type.Optional(time('Set while the owner has put it off, and it is no worse.')),
})
export type HealthFinding = Shape<typeof HealthFinding>

export const HealthFindings = objectSchema('HealthFindings', { data: Type.Array(HealthFinding) })

/** Snoozes a finding; shows it again if `until` is null. */
export const NewSnooze = objectSchema('NewSnooze', {
  code: Type.String({ maxLength: 100 }),
  about: objectSchema('SnoozedSubject', {
    kind: enumOf('SnoozedSubjectKind', SUBJECT_KINDS),
    id: nullable(Type.String({ maxLength: 200 })),
  }),
  until: nullable(Type.String(ISO_TIME)),
})
export type NewSnooze = Shape<typeof NewSnooze>

export const Alive = objectSchema('Alive', { status: enumOf('Liveness', ['ok']) })

export const Ready = objectSchema('Ready', {
  status: enumOf('Readiness', ['ready']),
  storage_full: Type.Optional(
    Type.Boolean({ description: 'True while the disk is nearly full: nothing is accepted.' }),
  ),
})
