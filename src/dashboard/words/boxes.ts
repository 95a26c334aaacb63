// Sentences of several machines: their page, and the move of a line.

export const BOXES = {
  title: 'Boxes',
  lead: "Other machines whose lines this relay uses. Each runs Hookline as well, and connects to this relay's machine.",
  none: 'No box yet',
  noneHint:
    'Add a Mac to use its lines here too. It joins with one command, and its lines appear by themselves.',
  guide: 'How it works',
  add: 'Add a box',
  name: 'Name',
  nameHint:
    'Letters, digits, ".", "_" and "-". You use it in commands and see it beside its lines.',
  create: 'Create invitation',
  runThere: (name: string) => `Run this on ${name}`,
  runWords: 'Install Hookline on that machine first. The command is good once, for 30 minutes.',
  needsUser:
    'First add its user to the configuration of your cluster: hookline boxes config prints it.',
  command: 'Command',
  waiting: (name: string) => `Waiting for ${name}…`,
  joined: (name: string) => `${name} has joined.`,
  states: {
    online: { text: 'Online', tone: 'ok', icon: 'check' },
    offline: { text: 'Offline', tone: 'bad', icon: 'cross' },
    invited: { text: 'Invited', tone: 'wait', icon: 'clock' },
  },
  version: 'Version',
  platform: 'System',
  free: 'Free on its disk',
  heard: 'Last heard',
  never: 'Never',
  lines: 'Lines',
  noLines: 'None yet',
  invite: 'New command',
  rename: 'Rename…',
  renameTitle: 'Rename this box',
  save: 'Save',
  renamed: 'Renamed.',
  remove: 'Remove…',
  removeTitle: 'Remove this box?',
  removeConfirm: 'Remove',
  removeWords: (name: string) =>
    `${name} is cut off at once. Its lines stay here, offline, with their conversations: they continue when their number is signed in on another machine.`,
  removed: 'Removed.',
  machine: 'Machine',
  here: "The relay's own machine",
  hereInside: "the relay's own machine",
  move: 'Move line…',
  moveTitle: 'Move this line',
  moveTo: 'Move to',
  moveWords:
    'The line stops sending and receiving here. Sign in with its number on the other machine, and it continues there with its conversations. Messages wait meanwhile, for up to 24 hours.',
  moveConfirm: 'Start the move',
  moving: (place: string) => `This line is moving to ${place}`,
  movingWords: (place: string, number: string) =>
    `Sign in on ${place} with ${number}. The line continues there by itself as soon as the number is seen.`,
  moveCancel: 'Cancel the move',
  canceled: 'The line stays where it is.',
} as const
