export const SIGN_IN = {
  title: 'Sign in',
  wait: (seconds: number) => `Wait ${seconds} s`,
  forgotBefore: 'Forgot your password? Run ',
  forgotAfter: ' on the computer that runs Hookline, and open the link it prints.',
} as const
