import { readLogTip } from '../../service/updates/log-tip.ts'
import { about, count, object, text, uint32 } from './openapi/shape.ts'
import { json, type Route } from './route.ts'

const logId = { ...text, pattern: '^0x[0-9a-f]{16}$' }

/** How far the log reaches, and which log it is: what a gateway that follows this one takes over. */
export const logRoute: Route = {
  method: 'GET',
  path: '/api/gateway/v1/log',
  about: 'How far the log of ledger updates reaches, and which log it is.',
  answers: {
    200: {
      about: 'The newest place.',
      json: object({
        logId: about('Names the log: created with it, part of every cursor.', logId),
        seq: about('The newest position.', count),
        milestoneIndex: about('The newest committed slot.', uint32),
        prunedSeq: about('Rows up to this position are no longer kept; 0 where all are.', count),
      }),
    },
  },
  errors: [],
  answer: async (_request, services) => {
    const { logId, seq, slot: milestoneIndex, prunedSeq } = await readLogTip(services)
    return json(200, { logId, seq, prunedSeq, milestoneIndex })
  },
}
