// Makes src/guides/findings.md. Severity, title and advice are read from the object literals of the modules that report
// findings, so that each sentence stands once. What a literal leaves open, such as a name, is "…".

import ts from 'typescript-5'

import { FINDING_CODES, findingRow } from '../src/domain/finding-codes.ts'
import { OFFLINE_REASONS } from '../src/domain/line.ts'
import { sourceFiles } from '../test/support/source-files.ts'

type Case = { readonly severity: string; readonly title: string; readonly fix: string }

/** Makers whose literals don't say their code: a part of the path, the beginning of the title, the codes. */
const CODES_OF: readonly (readonly [path: string, title: string, codes: readonly string[]])[] = [
  ['maintenance/maintenance', '', ['clock_jumped']],
  ['health/queue-watch', '', ['queue_growing']],
  ['health/box-findings', 'The box … is outdated', ['box_outdated']],
  ['health/box-findings', 'The box … is unreachable', ['box_unreachable']],
  ['health/box-findings', 'The box … is cut off', ['box_cut_off']],
  ['health/box-findings', 'The number of', ['number_twice']],
  ['health/line-findings', 'Messages from a contact name', ['sender_is_a_name']],
  ['boxes/head-broker', '', ['broker_shared', 'broker_unreachable']],
  ['kinds/shortcuts', 'No shortcut is asking', ['shortcut_silent']],
  ['domain/not-relayed', 'SMS', ['sms_not_announced']],
  ['domain/not-relayed', 'RCS', ['rcs_not_announced']],
  ['domain/not-relayed', 'Group', ['group_messages_not_relayed']],
  ['domain/not-relayed', 'Junk', ['spam_not_announced']],
  ['domain/not-relayed', 'Messages without a conversation', ['unplaced_messages']],
  ['domain/not-relayed', 'Messages of an unknown kind', ['messages_not_understood']],
  ['domain/not-relayed', "Messages from this line's own", ['own_messages_left_out']],
  ['domain/not-relayed', 'Messages that came twice', ['messages_repeated']],
  ['domain/not-relayed', 'Copies of edits', ['edit_copies_left_out']],
]
/** The severity that a maker gives to all literals of a file. */
const SEVERITY_OF: readonly (readonly [path: string, severity: string])[] = [
  ['kinds/mac/condition', 'error'],
  ['kinds/iphone/phone-blockers', 'error'],
  ['boxes/', 'error'],
  ['hosting/host-checks', 'warning'],
  ['maintenance/timetable', 'warning'],
  ['domain/not-relayed', 'info'],
  ['health/queue-watch', 'warning'],
  ['health/line-findings', 'warning'],
  ['health/box-findings', 'error'],
  ['http/tls', 'warning'],
]
/** Findings that a phone on the cable has with the words of a reason for being offline, or of another finding. */
const AS_OTHERS: Readonly<Record<string, Case>> = {
  anchor_not_trusted: {
    severity: 'info or warning',
    title: 'The iPhone does not trust this computer',
    fix: 'See `not_trusted`, `trust_dialog`, `trust_denied` and `pairing_stale`.',
  },
  anchor_unreadable: {
    severity: 'warning',
    title: 'The iPhone cannot be read',
    fix: 'See `passcode_locked`, `usbmux_denied` and `unreadable`.',
  },
  anchor_low_battery: {
    severity: 'warning',
    title: 'The battery of the iPhone is low',
    fix: 'Plug it into a port or hub that supplies enough power.',
  },
  simulated_outage: {
    severity: 'info',
    title: 'A practice line simulates an outage',
    fix: 'Wait five seconds: the line comes back by itself.',
  },
  update_check_failed: {
    severity: 'warning',
    title: 'Scheduled job "update-check" is failing',
    fix: 'Check the setting `release_source`, and that this machine reaches it.',
  },
}
/** Codes whose literal has another severity than the others of its file. */
const MILDER: Readonly<Record<string, string>> = {
  agent_starting: 'info',
  line_moving: 'info',
  not_configured: 'info',
}

/** The whole guide, in Markdown. */
export function findingsGuide(): string {
  const cases = casesInSource()
  const rows = FINDING_CODES.map((code) => {
    const found = cases.get(code) ?? [AS_OTHERS[code]].filter((one) => one !== undefined)
    if (found.length === 0) throw new Error(`No module says what ${code} is.`)
    const { guide } = findingRow(code)
    const [severities, titles, fixes] = (['severity', 'title', 'fix'] as const).map((field) =>
      [...new Set(found.map((one) => one[field]))].join('<br>'),
    )
    const more = guide === null ? '' : ` [More](${guide})`
    return `| <a id="${code}"></a>\`${code}\` | ${severities} | ${titles} | ${cell(fixes ?? '')}${more} |`
  })
  return `# Findings

What \`hookline doctor\`, Home and \`GET /api/v1/health/findings\` can report, by its code. An _error_ stops something, a
_warning_ will, an _info_ is good to know. \`doctor\` exits with 5 while there is an error or a warning. "…" stands for what
the finding itself names; its \`why\` has the cause.

| code | severity | title | what to do |
|---|---|---|---|
${rows.join('\n')}
`
}

function cell(text: string): string {
  return text.replace(/^…$/, 'The finding says it.').replaceAll('|', '\\|')
}

function casesInSource(): ReadonlyMap<string, readonly Case[]> {
  const found = new Map<string, readonly Case[]>()
  // A reason for being offline has words of its own only if no module reports a finding with its code.
  const paths = sourceFiles('src/**/*.ts').toSorted(
    (a, b) => Number(isReason(a)) - Number(isReason(b)),
  )
  for (const { path, text } of paths) {
    if (/src\/(dashboard|cli|api)\//.test(path)) continue
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    const visit = (node: ts.Node) => {
      const one = ts.isObjectLiteralExpression(node) ? caseOf(node, source) : null
      for (const code of one?.codes ?? []) {
        const others = found.get(code) ?? []
        const isTold = isReason({ path }) && others.length > 0
        if (one !== null && !isTold) found.set(code, [...others, one])
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return found
}

const isReason = ({ path }: { readonly path: string }) => path.endsWith('domain/line.ts')

type Found = Case & { readonly codes: readonly string[] }

/** The finding that an object literal describes, or null. */
function caseOf(node: ts.ObjectLiteralExpression, source: ts.SourceFile): Found | null {
  const field = (name: string) => textOf(property(node, name), source)
  const fix = field('fix') ?? field('hint')
  const job = field('finding')
  const title = job === null ? field('title') : `Scheduled job "${field('name')}" is failing`
  if (title === null || fix === null) return null
  const given = [field('code') ?? job ?? '', ...wordsAround(node)]
  const codes = codesOf(given, source.fileName, title)
  const severity = field('severity') ?? given.find((word) => /^(info|warning|error)$/.test(word))
  return { codes, severity: severity ?? usualSeverity(codes, source.fileName), title, fix }
}

function usualSeverity(codes: readonly string[], path: string): string {
  const milder = codes.map((code) => MILDER[code]).find((one) => one !== undefined)
  return milder ?? SEVERITY_OF.find(([file]) => path.includes(file))?.[1] ?? 'warning'
}

function codesOf(given: readonly string[], path: string, title: string): readonly string[] {
  const named = given.find((word) => (FINDING_CODES as readonly string[]).includes(word))
  if (named !== undefined) return [named]
  return CODES_OF.find(([file, start]) => path.includes(file) && title.startsWith(start))?.[2] ?? []
}

/** The name of the property that has the literal as its value, and the texts beside it in a call. */
function wordsAround(node: ts.ObjectLiteralExpression): readonly string[] {
  const { parent } = node
  if (ts.isPropertyAssignment(parent)) return [parent.name.getText()]
  if (!ts.isCallExpression(parent)) return []
  return parent.arguments.filter((one) => ts.isStringLiteral(one)).map(({ text }) => text)
}

function property(node: ts.ObjectLiteralExpression, name: string): ts.Expression | null {
  for (const one of node.properties) {
    if (one.name?.getText() !== name) continue
    if (ts.isPropertyAssignment(one)) return one.initializer
    if (ts.isShorthandPropertyAssignment(one)) return one.name
  }
  return null
}

/** What an expression says, with "…" for what only a running relay knows; null if there is none. */
function textOf(node: ts.Expression | null, source: ts.SourceFile): string | null {
  if (node === null) return null
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
  }
  if (ts.isBinaryExpression(node)) {
    return `${textOf(node.left, source)}${textOf(node.right, source)}`
  }
  if (ts.isConditionalExpression(node)) {
    return `${textOf(node.whenTrue, source)} or ${textOf(node.whenFalse, source)}`
  }
  if (ts.isIdentifier(node)) return textOf(constant(node.text, source), source) ?? '…'
  return node.getText() === 'OFFLINE_REASONS.device_absent.hint'
    ? OFFLINE_REASONS.device_absent.hint
    : '…'
}

/** The value of the constant with this name in the file. */
function constant(name: string, source: ts.SourceFile): ts.Expression | null {
  let found: ts.Expression | null = null
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === name && node.initializer) {
      found ??= node.initializer
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}
