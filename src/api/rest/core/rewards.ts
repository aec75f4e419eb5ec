import { ManaRewards } from '../../../protocol/node-answers.ts'
import { OutputId } from '../../../protocol/primitives.ts'
import { readManaRewards } from '../../../service/accounts/mana-rewards.ts'
import { number32, pathId } from '../parameters.ts'
import { serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** What a stake or a delegation may claim (rest.md 4.1). */
export const rewardsRoute = readRoute({
  path: '/api/core/v3/rewards/{outputId}',
  about: 'What a stake or a delegation may claim.',
  params: { outputId: pathId(OutputId) },
  query: {
    slot: number32('Of the commitment that the claim is to refer to; the newest by default.'),
  },
  reply: serialized('The rewards, and the epochs they are for.', ManaRewards),
  errors: [404],
  answer: ({ outputId, slot }, services) => readManaRewards(services, outputId, slot),
})
