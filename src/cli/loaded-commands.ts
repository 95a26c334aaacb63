// Commands whose code is loaded when they run: they need much of the relay, which no other command waits for.

import { PROGRAMS } from '../compat/programs.ts'
import { optionsOf } from '../config.ts'
import type { OptionTable } from '../domain/option.ts'
import type { Command } from './command.ts'
import { openServiceCall, type FindPlace } from './service.ts'

export function serveCommand(table: OptionTable): Command {
  const { dataDir: _, ...flags } = table
  return {
    name: 'serve',
    options: Object.values(flags)
      .filter(({ isSecret }) => !isSecret)
      .map(({ name, kind, sentence }) => ({ name, value: kind.placeholder, sentence })),
    sentence: 'Run the relay in the foreground.',
    isService: true,
    run: async (call) => (await import('./serve.ts')).serve(call),
  }
}

export const SERVE_COMMAND = serveCommand(optionsOf())

export const FAKE_COMMAND: Command = {
  name: 'fake',
  options: [
    {
      name: 'port',
      value: 'PORT',
      sentence: 'The port to listen on; 0 takes a free one (default 4666).',
    },
    { name: 'host', value: 'HOST', sentence: 'The address to listen on (default 127.0.0.1).' },
    {
      name: 'public-url',
      value: 'URL',
      sentence: 'Its address for clients, if a container or a tunnel gives it another one.',
    },
    { name: 'lines', value: 'N', sentence: 'Number of lines (default 2).' },
    {
      name: 'seed',
      value: 'N',
      sentence: 'Make each run the same: ids follow from N, and the clock moves only by calls.',
    },
    { name: 'people', value: 'FILE', sentence: 'Read from FILE who answers what.' },
    { name: 'webhook', value: 'URL', sentence: 'Post every event there.' },
    { name: 'print', value: 'FORM', sentence: 'Print address and credentials as env or json.' },
    { name: 'stay', value: null, sentence: 'Go on when the program that started it has ended.' },
  ],
  sentence: 'Run a fake relay for tests: in memory, with fixed credentials and simulated people.',
  isService: true,
  run: async (call) => (await import('./fake.ts')).runFake(call),
}

export const CONNECT_COMMAND: Command = {
  name: 'connect',
  args: [{ name: 'PROGRAM', isOptional: true, choices: PROGRAMS.map(({ name }) => name) }],
  options: [
    { name: 'to', value: 'NUMBERS', sentence: 'Who it may write to, separated by commas.' },
    { name: 'url', value: 'URL', sentence: 'Where a webhook posts to.' },
    {
      name: 'address',
      value: 'URL',
      sentence: "The relay's address as the program reaches it.",
    },
    { name: 'test', value: null, sentence: 'Send a test to the first number, or to the URL.' },
    {
      name: 'wait',
      value: 'SECONDS',
      sentence: 'Wait until the program has called for the first time.',
    },
  ],
  sentence: 'Connect another program: make its key, and print what to enter there.',
  run: async (call) => (await import('./connect.ts')).connect(call),
}

export const BACKUP_COMMANDS: readonly Command[] = [
  {
    name: 'backup',
    options: [
      {
        name: 'to',
        value: 'FILE',
        sentence:
          'Write one file that includes secret.key and hookline.env, and FILE.attachments beside it.',
      },
      { name: 'without-attachments', value: null, sentence: 'Leave the files of attachments out.' },
    ],
    sentence: 'Make a verified backup of the database.',
    run: async (call) => (await import('./backup.ts')).backUp(call),
  },
  {
    name: 'backups',
    sentence: 'List backups in the data directory.',
    run: async (call) => (await import('./backup.ts')).printBackups(call),
  },
  {
    name: 'restore',
    args: [{ name: 'FILE' }],
    options: [
      {
        name: 'with-environment',
        value: null,
        sentence:
          "Also restore the backup's hookline.env: programs, hosts, ports, files, passwords.",
      },
    ],
    sentence: 'Restore a backup. The relay must be stopped. Never sends a message.',
    run: async (call) => (await import('./backup.ts')).restore(call),
  },
]

export function upgradeCommand(findPlace: FindPlace): Command {
  return {
    name: 'upgrade',
    options: [
      {
        name: 'from',
        value: 'FILE',
        sentence:
          'The new executable, with its signed SHA256SUMS beside it (default: the newest in release_source).',
      },
      { name: 'check', value: null, sentence: 'Only look for a newer release, in release_source.' },
      { name: 'unverified', value: null, sentence: 'Accept a file without a release signature.' },
    ],
    sentence: 'Install another version. Rolls back automatically if it fails to start.',
    async run(call) {
      const { checkUpdate, runUpgrade } = await import('./upgrade.ts')
      return call.options.has('check')
        ? checkUpdate(call)
        : runUpgrade(openServiceCall(call, findPlace))
    },
  }
}

/** An upgrade runs it on the new executable before anything changes. */
export const CHECK_MIGRATIONS_COMMAND: Command = {
  name: 'check-migrations',
  args: [{ name: 'FILE' }],
  sentence: 'Migrate and check a copy of a backup.',
  run: async (call) => (await import('./upgrade.ts')).checkMigrations(call),
}

export function supportCommand(findPlace: FindPlace): Command {
  return {
    name: 'support',
    options: [{ name: 'to', value: 'FILE', sentence: 'File to write, which must not exist yet.' }],
    sentence: 'Write a file about this installation for support: no texts, numbers or secrets.',
    run: async (call) =>
      (await import('./support.ts')).writeBundle(openServiceCall(call, findPlace)),
  }
}

export function boxesUpgradeCommand(findPlace: FindPlace): Command {
  return {
    name: 'boxes upgrade',
    args: [{ name: 'BOX', ids: 'boxes', isOptional: true, isRest: true }],
    options: [
      {
        name: 'from',
        value: 'PATH',
        sentence:
          'The folder of a release, or an executable for boxes like this machine (default: the newest in release_source).',
      },
      { name: 'unverified', value: null, sentence: 'Accept files without a release signature.' },
      { name: 'resume', value: null, sentence: 'Go on after a failure, with the same box again.' },
      { name: 'cancel', value: null, sentence: 'Upgrade no further box.' },
    ],
    sentence: 'Upgrade all boxes, or some: first one, then a tenth at a time.',
    run: async (call) => (await import('./boxes-upgrade.ts')).upgradeBoxes(call, findPlace),
  }
}
