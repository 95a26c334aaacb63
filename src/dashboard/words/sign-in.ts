export const SIGN_IN = {
  title: 'Sign in',
  name: 'Name',
  nameHint: 'Empty for the owner.',
  memberOut: "You're signed out. If your password no longer works, ask the owner.",
  wait: (seconds: number) => `Wait ${seconds} s`,
  forgotBefore: 'Forgot your password? Run ',
  forgotAfter: ' on the computer that runs Hookline, and open the link it prints.',
} as const
