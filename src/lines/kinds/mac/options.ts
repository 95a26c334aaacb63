import { onlyOn, option, type OptionValues } from '../../../domain/option.ts'
import {
  choiceKind,
  optionalKind,
  PATH_KIND,
  PHONE_NUMBER_KIND,
} from '../../../domain/value-kind.ts'

const program = (name: string, sentence: string) =>
  option(`mac-${name}`, PATH_KIND, { default: `/usr/bin/${name}`, sentence })

export const MAC_OPTIONS = onlyOn('darwin', {
  mac: option('mac', choiceKind('auto', 'on', 'off'), {
    isHarmless: true,
    default: 'auto',
    sentence: 'Use Messages on this computer as a line; auto: on a Mac.',
  }),
  macPhoneNumber: option('mac-phone-number', optionalKind(PHONE_NUMBER_KIND, 'auto'), {
    isHarmless: true,
    default: null,
    sentence: "The Mac line's number; auto reads it from the history of Messages.",
  }),
  macChatDb: option('mac-chat-db', optionalKind(PATH_KIND, 'auto'), {
    default: null,
    sentence: 'The Messages database; auto: the one in the home folder.',
  }),
  macStaging: option('mac-staging', choiceKind('messages', 'pictures'), {
    isHarmless: true,
    default: 'messages',
    sentence: 'The folder from which Messages sends files: its own, or one in Pictures.',
  }),
  macOsascript: program('osascript', 'The program that runs the script for Messages.'),
  macOpen: program('open', 'The program that starts Messages.'),
  macPgrep: program('pgrep', 'The program that checks whether Messages is running.'),
  macCaffeinate: program('caffeinate', 'The program that keeps the Mac awake.'),
})

export type MacOptions = OptionValues<typeof MAC_OPTIONS>
