// The options of iPhones on a cable, the forms of their values, and what such lines can do.

import type { Capabilities } from '../../../domain/line.ts'
import { onlyOn, option, type OptionValues } from '../../../domain/option.ts'
import {
  PATH_KIND,
  PHONE_NUMBER_KIND,
  choiceKind,
  integerKind,
  listKind,
  optionalKind,
  textKind,
  type ValueKind,
} from '../../../domain/value-kind.ts'
import { isUdid } from './udid.ts'

const MUX_ADDRESS_KIND: ValueKind<string> = {
  placeholder: 'ADDRESS',
  wanted: 'an address of usbmuxd such as UNIX:/var/run/usbmuxd or 127.0.0.1:27015',
  parse: (text) => {
    const isPath = /^(?:unix:\/\/|unix:)?\/[^\0]{1,100}$/i.test(text)
    return isPath || /^(?:tcp:\/\/)?[^\s:/]+:[1-9][0-9]{0,4}$/i.test(text) ? text : undefined
  },
  print: (value) => value,
}

/** A phone to use as a line. `udid` is null for all phones, `number` is null if the SIM says it. */
export type PhoneChoice = { readonly udid: string | null; readonly number: string | null }

const PHONE_CHOICE_KIND: ValueKind<PhoneChoice> = {
  placeholder: 'UDID=NUMBER',
  wanted: 'all, or the UDID of an iPhone, with = and its number behind it if its SIM says none',
  parse: (text) => {
    if (text === 'all') return { udid: null, number: null }
    const [udid = '', ...numbers] = text.split('=')
    const [number = null] = numbers.map((one) => PHONE_NUMBER_KIND.parse(one))
    const isWhole = numbers.length === 0 || (numbers.length === 1 && number !== null)
    return isUdid(udid) && isWhole ? { udid, number } : undefined
  },
  print: ({ udid, number }) => `${udid ?? 'all'}${number === null ? '' : `=${number}`}`,
}

const COMMAND_WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g
const UNKNOWN_VALUE = /\{(?!(?:udid|serial|port|bundle|folder|xctestrun)\})\w+\}/

/** A program and its arguments, run without a shell; quotes group words with spaces. */
const COMMAND_KIND: ValueKind<readonly string[]> = {
  placeholder: 'COMMAND',
  wanted:
    'a command that begins with an absolute path; {udid}, {serial}, {port}, {bundle}, {folder} and {xctestrun} are filled in',
  parse: (text) => {
    const words = [...text.matchAll(COMMAND_WORD)].map(([word]) =>
      word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'),
    )
    const isWhole = text.replaceAll(COMMAND_WORD, '').trim() === '' && !text.includes('\0')
    return isWhole && !UNKNOWN_VALUE.test(text) && words[0]?.startsWith('/') === true
      ? words
      : undefined
  },
  print: (words) =>
    words
      .map((word) => {
        if (word !== '' && !/[\s"']/.test(word)) return word
        return word.includes('"') ? `'${word}'` : `"${word}"`
      })
      .join(' '),
}

export const IPHONE_OPTIONS = {
  iphone: option('iphone', choiceKind('auto', 'on', 'off'), {
    isHarmless: true,
    default: 'auto',
    sentence: 'Watch iPhones on a cable; auto: if there is a Mac line.',
  }),
  usbmuxdAddress: option('usbmuxd-address', optionalKind(MUX_ADDRESS_KIND, 'auto'), {
    default: null,
    variable: 'USBMUXD_SOCKET_ADDRESS',
    sentence: 'The address of usbmuxd; auto: its usual place.',
  }),
  iphoneLines: option('iphone-lines', optionalKind(listKind(PHONE_CHOICE_KIND), 'off'), {
    isHarmless: true,
    default: null,
    sentence: 'iPhones on a cable to use as lines (experimental).',
  }),
  iphoneAgent: option('iphone-agent', choiceKind('attach', 'go-ios', 'xcodebuild'), {
    default: 'attach',
    sentence: 'Commands that start WebDriverAgent on an iPhone; attach: you start it yourself.',
  }),
  iphoneAgentCommand: option('iphone-agent-command', optionalKind(COMMAND_KIND, 'preset'), {
    default: null,
    sentence: 'The command that runs WebDriverAgent on an iPhone; preset: the one of iphone-agent.',
  }),
  iphoneTunnelCommand: option('iphone-tunnel-command', optionalKind(COMMAND_KIND, 'preset'), {
    default: null,
    sentence: 'A second command, which runs once for all iPhones; preset: the one of iphone-agent.',
  }),
  iphoneAgentPort: option('iphone-agent-port', integerKind('PORT', 1, 65_535), {
    default: 8_100,
    sentence: 'The port of WebDriverAgent on the iPhone.',
  }),
  iphoneAgentBundle: option(
    'iphone-agent-bundle',
    textKind('ID', 'a bundle id such as com.example.WebDriverAgentRunner.xctrunner'),
    {
      default: 'com.facebook.WebDriverAgentRunner.xctrunner',
      sentence: 'The bundle id WebDriverAgent was signed with.',
    },
  ),
  iphoneGoIos: option('iphone-go-ios', PATH_KIND, {
    default: '/usr/local/bin/ios',
    sentence: 'The program go-ios.',
  }),
  ...onlyOn('darwin', {
    iphoneXcodebuild: option('iphone-xcodebuild', PATH_KIND, {
      default: '/usr/bin/xcodebuild',
      sentence: 'The program xcodebuild.',
    }),
    iphoneXctestrun: option('iphone-xctestrun', optionalKind(PATH_KIND, 'none'), {
      default: null,
      sentence: 'The .xctestrun file of WebDriverAgent that xcodebuild runs.',
    }),
  }),
} as const

export type IphoneOptions = OptionValues<typeof IPHONE_OPTIONS>

export const IPHONE_CAPABILITIES: Capabilities = {
  new_contacts: true,
  choose_service: false,
  delivered: true,
  read: true,
  guid: false,
  attachments: false,
}
