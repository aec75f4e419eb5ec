import { ok } from '../../lib/result.ts'
import { readLogTip } from '../../service/updates/log-tip.ts'
import { about, count, limited, object, text, uint32 } from './form.ts'
import { jsonReply } from './reply.ts'
import { readRoute } from './route.ts'

const logId = limited({ pattern: '^0x[0-9a-f]{16}$' }, text)

/** The end of the log of ledger updates. */
export const logRoute = readRoute({
  path: '/api/gateway/v1/log',
  about: 'Returns the id and the newest position of the log of ledger updates.',
  reply: jsonReply(
    'The end of the log.',
    object({
      logId: about(
        'Id of the log, which is created with the log and is part of every cursor.',
        logId,
      ),
      seq: about('The newest position.', count),
      milestoneIndex: about('The newest committed slot.', uint32),
      prunedSeq: about(
        'Position up to which rows were removed; 0 if all rows are retained.',
        count,
      ),
    }),
  ),
  answer: async (_given, services) => {
    const { slot: milestoneIndex, ...tip } = await readLogTip(services)
    return ok({ ...tip, milestoneIndex })
  },
})
