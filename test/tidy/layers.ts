// Who may import whom: the table of the modules in `src/`, and a reader of imports for it. Imports of
// types count as well: what a module knows of is what it depends on.

import { dirname, join, normalize } from 'node:path'

import type { SourceFile } from '../support/source-files.ts'

const BASE = ['domain', 'system', 'api'] as const
const FEATURES = [
  'webhooks',
  'keys',
  'lines',
  'attachments',
  'maintenance',
  'access',
  'hosting',
  'people',
  'stats',
  'timeline',
  'boxes',
  'alerts',
] as const
/** What a feature may know, beside itself. */
const BELOW_FEATURES = [...BASE, 'storage'] as const

/** Each module, and the modules or single files that it may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  api: ['domain'],
  system: ['domain'],
  config: [...BASE, 'lines/line-kind', 'lines/kinds', 'boxes/options'],
  guides: [],
  storage: BASE,
  'lines/kinds': [...BASE, 'lines/driver', 'lines/line-kind'],
  ...Object.fromEntries(FEATURES.map((feature) => [feature, BELOW_FEATURES])),
  webhooks: [...BELOW_FEATURES, 'compat'],
  keys: [...BELOW_FEATURES, 'compat'],
  messages: [
    ...BELOW_FEATURES,
    'attachments',
    'lines/driver',
    'lines/line-state',
    'people/resource',
    'webhooks/publish',
  ],
  // Its head's side stores boxes; a box has no database of the relay, and its root imports no storage.
  boxes: [...BELOW_FEATURES, 'lines/driver', 'lines/driver-watch'],
  alerts: [...BELOW_FEATURES, 'webhooks/post', 'webhooks/publish', 'webhooks/targets'],
  health: [...BELOW_FEATURES, 'lines/line-kind', 'webhooks/publish'],
  mcp: ['api', 'system', 'domain/permissions'],
  compat: ['api', 'domain', 'system'],
  http: [...BELOW_FEATURES, 'config', ...FEATURES, 'messages', 'health', 'guides', 'mcp', 'compat'],
  timeline: [...BELOW_FEATURES, 'stats/uptime'],
  dashboard: [
    'api',
    'compat/programs',
    'domain/alert',
    'domain/audit-words',
    'domain/contact-fields',
    'domain/number-words',
    'domain/pages',
    'domain/paths',
    'domain/permissions',
    'domain/handle',
    'domain/manual-search',
    'domain/search-text',
    'domain/webhook-state',
    'domain/webhook-url',
  ],
  runtime: [
    ...BELOW_FEATURES,
    'config',
    'lines/kinds',
    'lines/driver',
    'lines/line-kind',
    'attachments',
    'boxes/head-broker',
    'health',
    'http/around-fake',
    'maintenance',
    'webhooks',
  ],
  // The relay's and the box's roots make their kinds of lines in the same way.
  devices: [...BELOW_FEATURES, 'lines/kinds', 'config', 'runtime', 'lines', 'boxes', 'health'],
  app: [
    ...BELOW_FEATURES,
    ...FEATURES,
    'lines/kinds',
    'config',
    'devices',
    'runtime',
    'messages',
    'health',
    'http',
  ],
  fake: [
    ...BELOW_FEATURES,
    'app',
    'runtime',
    'config',
    'lines/kinds',
    'lines/driver',
    'lines/line-kind',
    'attachments',
    'keys',
    'compat',
    'webhooks/post',
    'webhooks/signature',
    'http',
  ],
  box: [...BASE, 'config', 'devices', 'boxes', 'lines/driver', 'lines/line-kind'],
  cli: [
    ...BELOW_FEATURES,
    'guides',
    'mcp',
    'compat',
    'app',
    'box',
    'fake',
    'config',
    'keys',
    'hosting',
    'lines/kinds',
    'people',
    'boxes',
    'health/causes',
    'webhooks/network',
  ],
  main: ['cli'],
}

/** The modules of a driver that has any, and those of the same driver on which each stands. */
const WITHIN_DRIVERS: Readonly<Record<string, readonly string[]>> = {
  cable: [],
  agent: [],
  screens: ['agent'],
}

/** Packages, and the only places that may know them. */
const PACKAGE_PLACES: Readonly<Record<string, readonly string[]>> = {
  elysia: ['http/', 'app.ts'],
  '@elysiajs/swagger': ['http/'],
  'swagger-ui-dist': ['http/'],
  '@sinclair/typebox': ['http/bind.ts'],
  'bun:sqlite': ['boxes/', 'storage/', 'lines/kinds/', 'system/'],
  'drizzle-orm': ['storage/'],
  typebox: ['api/', 'boxes/', 'fake/', 'http/', 'lines/kinds/', 'mcp/', 'config.ts'],
  '@nats-io/transport-node': ['boxes/nats-link.ts'],
  '@modelcontextprotocol/server': ['mcp/'],
  croner: ['maintenance/', 'system/'],
  preact: ['dashboard/'],
  '@preact/signals': ['dashboard/'],
  uqr: ['http/'],
  otpauth: ['access/second-factor.ts'],
  // The line and column of a fault in a body.
  'jsonc-parser': ['http/input.ts'],
  'file-type': ['attachments/'],
  'libphonenumber-js': ['domain/handle.ts'],
  // Property lists in XML, in which usbmuxd and iPhones speak.
  plist: ['lines/kinds/iphone/'],
  // The replies of webhooks, in XML.
  '@xmldom/xmldom': ['compat/twilio/twiml.ts'],
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?\s*'([^']+)'|\bimport\(\s*'([^']+)'/g
/** An import of more than types that browsers would load; a macro runs while the page is bundled. */
const VALUE_OF_SERVER =
  /(?:^|\n)\s*(?:import|export)(?!\s+type\b)\s(?:[^'";]*?\sfrom\s)?\s*'((?:\.\.\/)+api\/[^']+|typebox)'(?! with \{ type: 'macro' \})/g
const T_OF_ELYSIA = /import\s*\{[^}]*\bt\b[^}]*\}\s*from\s*'elysia'/

/** The client of the broker, which a relay without boxes does not load. */
const STATIC_LINK =
  /(?:^|\n)\s*(?:import|export)(?!\s+type\b)\s[^'";]*?\sfrom\s+'[^']*\/nats-link\.ts'/

const VALUE_IMPORT =
  /(?:^|\n)\s*(?:import|export)(?!\s+type\b)\s(?:[^'";]*?\sfrom\s)?\s*'([^']+)'(?! with \{)/g
/** One of types only, each by its name. */
const TYPES_BY_NAME = /^\s*(?:import|export)\s*\{(?:\s*type\s[^,}]+,?)+\s*\}/

/** The modules that run when a file with this text is imported, in the words of its imports. */
export function loadedBy(text: string): readonly string[] {
  return [...text.matchAll(VALUE_IMPORT)]
    .filter(([found]) => !TYPES_BY_NAME.test(found))
    .map(([, target = '']) => target)
}

/** One sentence for each import of `file` (a file of `src/`) that is not allowed. */
export function layerProblems(file: SourceFile): readonly string[] {
  const problems = importsOf(file.text)
    .filter((target) => !isAllowed(file.path, target))
    .map((target) => `${file.path} must not import ${target}`)
  const isBridge = file.path === 'src/http/bind.ts'
  if (!isBridge && T_OF_ELYSIA.test(file.text))
    problems.push(`${file.path} must not use elysia's t`)
  if (STATIC_LINK.test(file.text))
    problems.push(`${file.path} must load nats-link.ts with an import() of its own`)
  return [...problems, ...valuesOfServer(file)]
}

function valuesOfServer({ path, text }: SourceFile): readonly string[] {
  if (!path.startsWith('src/dashboard/')) return []
  const values = [...text.matchAll(VALUE_OF_SERVER)].map((match) => match[1] ?? '')
  return values.map((target) => `${path} must import only types of ${target}`)
}

export function importsOf(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? '')
}

/** The paths of the files that a file imports; not packages. */
export function targetsOf({ path, text }: SourceFile): readonly string[] {
  return importsOf(text)
    .filter((target) => target.startsWith('.'))
    .map((target) => normalize(join(dirname(path), target)))
}

function isAllowed(path: string, target: string): boolean {
  const place = path.replace(/^src\//, '')
  if (!target.startsWith('.')) return isPackageAllowed(place, target)
  const found = normalize(join(dirname(path), target))
  if (found === 'package.json') return place === 'system/version.ts'
  if (!found.startsWith('src/')) return false
  return isModuleAllowed(place, found.replace(/^src\//, ''))
}

function isModuleAllowed(place: string, target: string): boolean {
  const from = moduleOf(place)
  const to = moduleOf(target)
  if (place === 'http/dashboard-page.ts' && to === 'dashboard') return true
  if (from === 'lines/kinds' && to === 'lines/kinds') {
    return place === 'lines/kinds.ts' || isDriverAllowed(place, target)
  }
  if (from === to) return true
  const allowed = MAY_IMPORT[from] ?? []
  return allowed.includes(to) || allowed.includes(target.replace(/\.tsx?$/, ''))
}

/** Files that every module within their driver may import. */
const BELOW_MODULES: readonly string[] = [
  'lines/kinds/iphone/udid.ts',
  'lines/kinds/iphone/options.ts',
]

/** No driver imports another, and a module within a driver only those that it stands on. */
function isDriverAllowed(place: string, target: string): boolean {
  const [, , fromKind, ...from] = dirname(place).split('/')
  const [, , toKind, ...to] = dirname(target).split('/')
  if (fromKind !== toKind) return false
  const [module = null] = from
  const [targetModule = null] = to
  if (module === targetModule || module === null) return true
  if (BELOW_MODULES.includes(target)) return true
  return targetModule !== null && (WITHIN_DRIVERS[module] ?? []).includes(targetModule)
}

function isPackageAllowed(place: string, target: string): boolean {
  const isDomain = moduleOf(place) === 'domain'
  if (isDomain && !target.startsWith('libphonenumber-js/')) return false
  if (/^(bun|node:.+)$/.test(target)) return moduleOf(place) !== 'dashboard'
  const name = target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')
  return (PACKAGE_PLACES[name] ?? []).some((allowed) => place.startsWith(allowed))
}

/** `storage` for `storage/schema.ts`, `app` for `app.ts`, `lines/kinds` for `lines/kinds.ts` and the folder. */
export function moduleOf(place: string): string {
  if (/^lines\/kinds(\/|\.ts$)/.test(place)) return 'lines/kinds'
  return (place.split('/')[0] ?? '').replace(/\.ts$/, '')
}
