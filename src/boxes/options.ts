// Options of a relay with several boxes. A relay without boxes needs none of them, and opens no port.

import { option } from '../domain/option.ts'
import {
  PATH_KIND,
  SWITCH_KIND,
  integerKind,
  listKind,
  optionalKind,
  textKind,
  type ValueKind,
} from '../domain/value-kind.ts'

/** `host:port` of a broker, written as `tls://host:port`; the port is 4222 by default, as everywhere in NATS. */
const BROKER_KIND: ValueKind<string> = {
  placeholder: 'URL',
  wanted: 'an address such as tls://broker.example.org:4222',
  parse: (text) => {
    const found = /^tls:\/\/([\w.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?\/?$/i.exec(text)
    return found === null ? undefined : `${found[1]}:${found[2] ?? 4222}`
  },
  print: (value) => `tls://${value}`,
}

const SEED_KIND: ValueKind<string> = {
  ...textKind('SEED', 'the nkey seed of a user, which starts with SU'),
  parse: (text) => (/^SU[A-Z2-7]{56}$/.test(text) ? text : undefined),
}

export const BROKER_OPTIONS = {
  natsServer: option('nats-server', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'The nats-server that connects several boxes, if not the installed one.',
  }),
  brokerPort: option('broker-port', integerKind('PORT', 1, 65_535), {
    default: 4666,
    sentence: 'The port at which boxes connect; it opens with the first box.',
  }),
  broker: option('broker', optionalKind(listKind(BROKER_KIND), 'none'), {
    default: null,
    sentence: 'Your own NATS cluster for several boxes, instead of a nats-server of the relay.',
  }),
  brokerCa: option('broker-ca', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'A file with the certificates that sign those of --broker (PEM), if not public ones.',
  }),
  acceptUnsigned: option('accept-unsigned', SWITCH_KIND, {
    default: false,
    sentence:
      'On a box, install executables without a release signature too, if its head orders it.',
  }),
  brokerSeed: option('broker-seed', optionalKind(SEED_KIND, 'none'), {
    default: null,
    sentence: "The relay's nkey seed for --broker.",
    isSecret: true,
  }),
} as const
