import { expect, test } from 'bun:test'

import { ConfigError, loadConfig, optionsOf, type Config, type Given } from '../src/config.ts'
import { environmentOf, flagOf } from '../src/domain/option.ts'

/** Loads with nothing given but what the test names. */
function load(given: Partial<Given> & { readonly files?: Readonly<Record<string, string>> }) {
  return loadConfig({
    flags: {},
    environment: {},
    defaultDataDir: '/srv/me/data',
    folder: '/srv/me',
    readText: (path) => given.files?.[path] ?? null,
    ...given,
  })
}

function problemsOf(given: Parameters<typeof load>[0]): readonly string[] {
  try {
    load(given)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test('without anything given every option has its default, which nothing can change', () => {
  const { config } = load({})

  expect(config).toEqual({
    dataDir: '/srv/me/data',
    host: '127.0.0.1',
    port: 4665,
    tlsCert: null,
    tlsKey: null,
    publicUrl: null,
    trustedProxies: [],
    adminPassword: null,
    backupFolder: null,
    mac: 'auto',
    macPhoneNumber: null,
    macChatDb: null,
    macStaging: 'messages',
    macOsascript: '/usr/bin/osascript',
    macOpen: '/usr/bin/open',
    macPgrep: '/usr/bin/pgrep',
    macCaffeinate: '/usr/bin/caffeinate',
    iphone: 'auto',
    usbmuxdAddress: null,
    iphoneLines: null,
    iphoneAgent: 'attach',
    iphoneAgentCommand: null,
    iphoneTunnelCommand: null,
    iphoneAgentPort: 8_100,
    iphoneAgentBundle: 'com.facebook.WebDriverAgentRunner.xctrunner',
    iphoneGoIos: '/usr/local/bin/ios',
    iphoneXcodebuild: '/usr/bin/xcodebuild',
    iphoneXctestrun: null,
    simulatedLines: 0,
    simulatedDelayMs: 400,
    webhookRetryScheduleMs: [
      5_000, 30_000, 120_000, 600_000, 2_700_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000,
      86_400_000, 86_400_000,
    ],
    sendWaitMs: 15_000,
    natsServer: null,
    brokerPort: 4_666,
    broker: null,
    brokerCa: null,
    acceptUnsigned: false,
    brokerSeed: null,
    lockedSettings: {},
  })
  expect([config, config.lockedSettings].map(Object.isFrozen)).toEqual([true, true])
})

test('a flag beats the environment, which beats hookline.env, which beats the default', () => {
  const files = { '/srv/me/data/hookline.env': 'HOOKLINE_PORT=3\nHOOKLINE_HOST=file\n' }
  const environment = { HOOKLINE_PORT: '2' }

  const ports = [
    load({ files, environment, flags: { port: '1' } }),
    load({ files, environment }),
    load({ files }),
    load({}),
  ].map(({ config, rows }) => [config.port, rows.find(({ name }) => name === 'port')?.from])

  expect(ports).toEqual([
    [1, '--port'],
    [2, 'HOOKLINE_PORT'],
    [3, 'hookline.env: HOOKLINE_PORT'],
    [4665, 'default'],
  ])
})

test('a variable with _FILE names the file of the value, and an empty one is as if it were not set', () => {
  const files = { '/run/secrets/host': 'relay.local\n' }
  const environment = {
    HOOKLINE_HOST_FILE: '/run/secrets/host',
    HOOKLINE_PORT: '',
    HOOKLINE_PUBLIC_URL: '',
  }

  const { config, rows } = load({ files, environment })

  expect([config.host, config.port, config.publicUrl]).toEqual(['relay.local', 4665, null])
  expect(rows.find(({ name }) => name === 'host')?.from).toBe('HOOKLINE_HOST_FILE')
})

test('hookline.env lies in the data directory, and takes comments, empty lines, quotes and export', () => {
  const text = [
    '# the relay',
    '',
    'export HOOKLINE_PORT = 1',
    'HOOKLINE_HOST="::1"',
    "HOOKLINE_BACKUP_FOLDER='/a b'",
  ].join('\r\n')
  const files = { '/srv/me/other/hookline.env': text }

  const { config } = load({ files, environment: { HOOKLINE_DATA_DIR: 'other' } })

  expect(config.dataDir).toBe('/srv/me/other')
  expect([config.port, config.host, config.backupFolder]).toEqual([1, '::1', '/a b'])
  // Where it lies cannot stand in it.
  const wrong = { '/srv/me/data/hookline.env': 'HOOKLINE_DATA_DIR=/x' }
  expect(problemsOf({ files: wrong })).toEqual([
    'hookline.env, line 1: unknown option or invalid line.',
  ])
})

test('all that is wrong is reported at once, each with what would be right', () => {
  const problems = problemsOf({
    files: { '/srv/me/data/hookline.env': 'HOOKLINE_PROT=1' },
    flags: { port: '65536' },
    environment: {
      HOOKLINE_SEND_WAIT: '15',
      HOOKLINE_HOST: 'a',
      HOOKLINE_HOST_FILE: 'b',
      HOOKLINE_PUBLIC_URL_FILE: '/missing',
      HOOKLINE_BACKUPS_KEPT: '0',
    },
  })

  expect(problems).toEqual([
    'hookline.env, line 1: unknown option or invalid line.',
    'HOOKLINE_HOST and HOOKLINE_HOST_FILE are both set. Keep one.',
    'HOOKLINE_PUBLIC_URL_FILE names /missing, which cannot be read.',
    '--port is "65536"; it must be a whole number from 0 to 65535.',
    'HOOKLINE_SEND_WAIT is "15"; it must be a time from 0 to 1m, as 500ms, 15s, 2m or 6h.',
    'HOOKLINE_BACKUPS_KEPT is "0"; it must be a whole number from 1 to 365.',
  ])
})

test('a set environment variable locks its setting', () => {
  const environment = {
    HOOKLINE_WEBHOOK_TARGETS: 'public',
    HOOKLINE_OPEN_METRICS: 'on',
    HOOKLINE_MESSAGE_RETENTION_DAYS: 'forever',
  }

  const { config } = load({ environment })

  expect(config.lockedSettings).toEqual({
    webhook_targets: 'public',
    open_metrics: true,
    message_retention_days: null,
  })
})

const VALUES: readonly (readonly [keyof Config, string, unknown])[] = [
  ['port', '0', 0],
  ['port', '65535', 65_535],
  ['port', '1e3', 'bad'],
  ['port', ' 1', 'bad'],
  ['host', '0.0.0.0', '0.0.0.0'],
  ['dataDir', 'here', '/srv/me/here'],
  ['backupFolder', 'b', '/srv/me/b'],
  ['backupFolder', 'none', null],
  ['publicUrl', 'https://relay.example.org/', 'https://relay.example.org'],
  ['publicUrl', 'none', null],
  ['publicUrl', 'relay.example.org', 'bad'],
  ['publicUrl', 'ftp://relay.example.org', 'bad'],
  ['publicUrl', 'https://me:secret@relay.example.org', 'bad'],
  ['publicUrl', 'https://relay.example.org/?a=1', 'bad'],
  ['trustedProxies', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  ['trustedProxies', 'localhost', 'bad'],
  ['trustedProxies', '10.0.0.1,', 'bad'],
  ['simulatedLines', '2', 2],
  ['simulatedLines', '100', 'bad'],
  ['simulatedDelayMs', '0', 0],
  ['webhookRetryScheduleMs', '100ms,1s,2m,6h,1d', [100, 1_000, 120_000, 21_600_000, 86_400_000]],
  ['webhookRetryScheduleMs', '0', 'bad'],
  ['webhookRetryScheduleMs', '5s,,30s', 'bad'],
  ['webhookRetryScheduleMs', '31d', 'bad'],
  ['sendWaitMs', '0', 0],
  ['sendWaitMs', '60s', 60_000],
  ['sendWaitMs', '61s', 'bad'],
  ['sendWaitMs', '1.5s', 'bad'],
  ['sendWaitMs', '15 s', 'bad'],
]

test('each kind of value is read as it is meant, or refused', () => {
  const read = VALUES.map(([name, text]): readonly unknown[] => {
    const flags = { [name]: text }
    const problems = problemsOf({ flags }).length
    return [name, text, problems === 0 ? load({ flags }).config[name] : 'bad', problems]
  })

  const wanted = VALUES.map((row): readonly unknown[] => [...row, row[2] === 'bad' ? 1 : 0])
  expect(read).toEqual(wanted)
})

test('flags and variables follow from the names, and none is there twice', () => {
  const options = Object.values(optionsOf())
  const flags = options.map(flagOf)
  const variables = options.map(environmentOf)

  expect(flags).toContain('--simulated-delay-ms')
  expect(variables).toContain('HOOKLINE_WEBHOOK_RETRY_SCHEDULE')
  expect(new Set(variables).size).toBe(variables.length)
  expect(new Set(flags).size).toBe(flags.length)
})

test('every default is printed as it could be written', () => {
  const { rows } = load({})

  for (const [key, { name }] of Object.entries(optionsOf())) {
    const printed = rows.find((row) => row.name === name)?.value ?? ''
    if (printed === '') continue
    const written = load({ flags: { [key]: printed } }).config
    expect(Object.entries(written)).toEqual(Object.entries(load({}).config))
  }
})

test('a command is an absolute path and its arguments, quotes hold spaces together', () => {
  const parse = (text: string) => {
    return load({ flags: { iphoneAgentCommand: text } }).config.iphoneAgentCommand
  }

  expect(parse(`/opt/my agent {udid}`)).toEqual(['/opt/my', 'agent', '{udid}'])
  expect(parse(`"/opt/my agent" --env="A B" 'it "is"' ''`)).toEqual([
    '/opt/my agent',
    '--env=A B',
    'it "is"',
    '',
  ])
  expect(parse('preset')).toBeNull()
  for (const text of [
    'agent {udid}',
    '/opt/agent {phone}',
    '/opt/agent "open',
    '/opt/agent a\0b',
  ]) {
    expect(problemsOf({ flags: { iphoneAgentCommand: text } })).toHaveLength(1)
  }
})

test('the iPhones that are lines are all, or named by UDID, each with its number if that is said', () => {
  const old = 'a'.repeat(40)
  const flags = { iphoneLines: `00008110-000A4C2E1E38801E=+12025550100,${old}` }

  const named = load({ flags }).config.iphoneLines
  const all = load({ flags: { iphoneLines: 'all' } }).config.iphoneLines
  const odd = ['x', 'all=+12025550100', `${old}=`, `${old}=1`, `${old}=+12025550100=`]
  const refused = odd.map((iphoneLines) => problemsOf({ flags: { iphoneLines } }).length)

  expect(named).toEqual([
    { udid: '00008110-000A4C2E1E38801E', number: '+12025550100' },
    { udid: old, number: null },
  ])
  expect(all).toEqual([{ udid: null, number: null }])
  expect(refused).toEqual([1, 1, 1, 1, 1])
})
