import { expect, test } from 'bun:test'

import { KEYWORDS, keywordIn } from '../../src/domain/opt-out.ts'

test('every keyword is understood as it is, in capitals, and as it has been written', () => {
  for (const meaning of ['out', 'in'] as const) {
    for (const word of KEYWORDS[meaning]) {
      const keyword = word.toUpperCase()
      for (const text of [word, keyword, ` ${word}.\n`, `${word}!!!`, `"${word}" 🛑`]) {
        expect([text, keywordIn(text)]).toEqual([text, { meaning, keyword }])
      }
    }
  }
})

const OPT_OUTS = [
  ['Stop. Thank you', 'STOP'],
  ['STOP please', 'STOP'],
  ['Please stop now, thanks!', 'STOP'],
  ['stop-all', 'STOP ALL'],
  ['Opt-out', 'OPT OUT'],
  ['Ｓｔｏｐ', 'STOP'],
  ['Bitte abmelden, danke', 'ABMELDEN'],
  ['STOPP jetzt', 'STOPP'],
  ['Cancelar, por favor', 'CANCELAR'],
  ['Baja. ¡Gracias!', 'BAJA'],
  ['ARRÊT', 'ARRET'],
  ['arre\u0302t', 'ARRET'],
  ["S'il vous plaît, désabonner", 'DESABONNER'],
  ['S’il te plaît désabonner, merci', 'DESABONNER'],
  ['DÉSABONNER svp', 'DESABONNER'],
] as const

test('a keyword in capitals, with an accent or among words of politeness opts out', () => {
  expect(OPT_OUTS.map(([text]) => [text, keywordIn(text)])).toEqual(
    OPT_OUTS.map(([text, keyword]) => [text, { meaning: 'out', keyword }]),
  )
})

const OTHERS = [
  '',
  'please',
  'thanks',
  'Stop it',
  "Don't stop",
  'Please stop by at five',
  'The bus stop',
  'Can you cancel my order?',
  'Cancel my appointment please',
  'stop stop',
  'S T O P',
  'The end',
  'Ende',
  'Salto',
  'stopped',
  'nonstop',
  'Bitte den Termin abmelden',
  'Alto, por favor, no tan rápido',
  'STOP 1234',
  'start up',
  'Let us start',
  `stop${' please'.repeat(40)}`,
]

test('a sentence with such a word in it is a message like any other', () => {
  expect(OTHERS.filter((text) => keywordIn(text) !== null)).toEqual([])
})

test('a word of the one list is not in the other', () => {
  const both = KEYWORDS.out.filter((word) => KEYWORDS.in.some((other) => other === word))
  expect(both).toEqual([])
})
