import { ok } from '../../lib/result.ts'
import { readLogTip } from '../../service/updates/log-tip.ts'
import { about, count, limited, object, text, uint32 } from './form.ts'
import { jsonReply } from './reply.ts'
import { readRoute } from './route.ts'

const logId = limited({ pattern: '^0x[0-9a-f]{16}$' }, text)

/** The log of ledger updates: what a gateway that follows this one reads first. */
export const logRoute = readRoute({
  path: '/api/gateway/v1/log',
  about: 'How far the log of ledger updates reaches, and which log it is.',
  reply: jsonReply(
    'The newest position.',
    object({
      logId: about('Names the log: created with it, part of every cursor.', logId),
      seq: about('The newest position.', count),
      milestoneIndex: about('The newest committed slot.', uint32),
      prunedSeq: about('Rows up to this position are no longer kept; 0 where all are.', count),
    }),
  ),
  answer: async (_given, services) => {
    const { slot: milestoneIndex, ...tip } = await readLogTip(services)
    return ok({ ...tip, milestoneIndex })
  },
})
