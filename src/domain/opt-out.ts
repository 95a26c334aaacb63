// The keywords by which people opt out of messages, in English, German, Spanish and French.

/** Values of the setting `opt_out`. */
export const OPT_OUT_MODES = ['off', 'record', 'enforce'] as const

/** The error code of a send to a recipient who opted out. */
export const OPTED_OUT = 'recipient_opted_out'

export const OPT_OUT_SOURCES = ['keyword', 'api', 'cli', 'dashboard'] as const

/** Keywords without accents. */
export const KEYWORDS = {
  out: listed(
    'stop, stopall, stop all, unsubscribe, cancel, end, quit, revoke, opt out, optout',
    'stopp, abmelden, abmeldung, abbestellen, austragen, beenden',
    'baja, dar de baja, darme de baja, parar, alto, cancelar, detener',
    'arret, arreter, desabonner, me desabonner, desinscrire, annuler, resilier',
  ),
  in: listed(
    'start, unstop, opt in, optin',
    'starten, anmelden',
    'alta, dar de alta, iniciar',
    'demarrer, reabonner, me reabonner',
  ),
}

const COURTESY = listed(
  'please, pls, thanks, thank you, thx, now',
  'bitte, danke, vielen dank, jetzt',
  'por favor, gracias, muchas gracias, ahora',
  's il vous plait, s il te plait, svp, stp, merci, maintenant',
)

function listed(...lists: readonly string[]): readonly string[] {
  return lists.flatMap((list) => list.split(', '))
}

/** A longer text is a sentence, whatever words it has. */
const TEXT_LENGTH_MAX = 100

const POLITE = `(?:${COURTESY.join('|')})`
const MEANINGS = (['out', 'in'] as const).map((meaning) => ({
  meaning,
  pattern: new RegExp(`^(?:${POLITE} )*(${KEYWORDS[meaning].join('|')})(?: ${POLITE})*$`),
}))

/**
 * The keyword, in capitals, and its meaning, if it is the whole message apart from case, accents, punctuation and
 * courtesy; null for any other text.
 */
export function keywordIn(
  text: string,
): { readonly meaning: 'out' | 'in'; readonly keyword: string } | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const words = plain(text)
  for (const { meaning, pattern } of MEANINGS) {
    const keyword = pattern.exec(words)?.[1]
    if (keyword !== undefined) return { meaning, keyword: keyword.toUpperCase() }
  }
  return null
}

/** Letters and digits in lower case without accents, and one space for anything between them. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
