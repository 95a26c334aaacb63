import { pagesFit } from './pages.ts'
import { PHONE, TOUCH } from './stage.ts'

pagesFit('phone', { viewport: PHONE, ...TOUCH })
