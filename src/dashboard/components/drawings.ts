// Icons and tones.

/** SVG paths on a 24 × 24 grid. */
export const DRAWINGS = {
  home: 'M4 11.5 12 4.5l8 7M6 10v9.5h4.5v-5h3v5H18V10',
  conversations: 'M4 5.5h16v10.5h-9L6.5 20v-4H4z',
  messages: 'M4 6.5h.3M8.5 6.5H20M4 12h.3M8.5 12H20M4 17.5h.3M8.5 17.5H20',
  lines: 'M8 3.5h8a1 1 0 0 1 1 1v15a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1v-15a1 1 0 0 1 1-1zM11 17.5h2',
  webhooks: 'M4 12h6M10 12l3.5-6H20M10 12l3.5 6H20M17.5 3.5 20 6l-2.5 2.5M17.5 15.5 20 18l-2.5 2.5',
  keys: 'M11.5 12.5 19.5 4.5M16 8l2.5 2.5M8 11.5a4.25 4.25 0 1 0 0 8.5 4.25 4.25 0 0 0 0-8.5z',
  connect: 'M9 3.5v5M15 3.5v5M6 8.5h12v3.5a6 6 0 0 1-12 0zM12 18v3',
  activity: 'M3.5 12H8l2.5-6.5 4 13L17 12h3.5',
  settings: 'M4 7h9M17.5 7H20M4 17h2.5M11 17h9M15.25 4.75v4.5M8.75 14.75v4.5',
  check: 'M5 12.5 10 17.5 19.5 7',
  checks: 'M2.5 12.5 7 17 15.5 7.5M11.5 16.5l.5.5 9-9.5',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  clock: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3 2',
  send: 'M12 19.5v-15M5.5 11 12 4.5l6.5 6.5',
  warning: 'M12 4 2.8 20h18.4zM12 10v4.5M12 17.2v.3',
  info: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5.5M12 7.5v.3',
  cross: 'M6 6l12 12M18 6 6 18',
  question:
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM9.5 9.7a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 16.5v.3',
  'sign-out': 'M10 4.5H5v15h5M14.5 8l4 4-4 4M18.5 12H9.5',
  copy: 'M9 8.5h10.5v11.5H9zM5.5 15.5h-1V4h10.5v1.5',
  plus: 'M12 5v14M5 12h14',
  back: 'M14.5 5.5 8 12l6.5 6.5',
  forward: 'M9.5 5.5 16 12l-6.5 6.5',
  down: 'M5.5 9.5 12 16l6.5-6.5',
  again: 'M19.5 12a7.5 7.5 0 1 1-2.2-5.3L19.5 9M19.5 4.5V9H15',
  search: 'M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20c.6-3.6 3.6-5.5 7.5-5.5s6.9 1.9 7.5 5.5',
  trash: 'M4.5 7h15M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13M10.3 11v5M13.7 11v5',
  pause: 'M8.5 5.5v13M15.5 5.5v13',
  book: 'M12 6.5C10 5 7 4.5 4 4.8V18c3-.3 6 .2 8 1.7 2-1.5 5-2 8-1.7V4.8c-3-.3-6 .2-8 1.7zM12 6.5v13.2',
  attach:
    'M19.5 11.5 12 19a4.6 4.6 0 0 1-6.5-6.5l8-8a3 3 0 0 1 4.3 4.3l-8 8a1.5 1.5 0 0 1-2.1-2.1l7.3-7.4',
  download: 'M12 4.5v11M6.5 10.5 12 16l5.5-5.5M5 19.5h14',
  people:
    'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 19.5c.5-3.2 3-5 6.5-5s6 1.8 6.5 5M15.5 5.3a3.5 3.5 0 0 1 0 6.4M17.5 14.8c2.2.6 3.6 2.2 4 4.7',
  picture:
    'M4 5h16v14H4zM4 16l4.5-4.5 4 4 2.5-2.5 5 5M15.5 8a1.25 1.25 0 1 0 0 2.5 1.25 1.25 0 0 0 0-2.5z',
  video: 'M3.5 6.5h11.5v11H3.5zM15 10.5 20.5 7.5v9L15 13.5',
  audio:
    'M9 17.5V6l10-2v11.5M6.5 15a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM16.5 13a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  document: 'M6.5 3.5h7l4 4v13h-11zM13.5 3.5v4h4M9.5 12h5M9.5 15.5h5',
  file: 'M6.5 3.5h7l4 4v13h-11zM13.5 3.5v4h4',
  more: 'M12 5v.3M12 12v.3M12 19v.3',
  notification: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 20.5h4',
  'arrow-in': 'M18 6 7 17M7 8.5V17h8.5',
} as const

export type IconName = keyof typeof DRAWINGS

/** `plain` neutral, `ok` good, `wait` under way, `warn` a warning, `bad` an error. */
export type Tone = 'plain' | 'ok' | 'wait' | 'warn' | 'bad'

export type StateWords = { readonly text: string; readonly tone: Tone; readonly icon: IconName }
