import { ManaRewards } from '../../../protocol/node-responses.ts'
import { OutputId } from '../../../protocol/primitives.ts'
import { readManaRewards } from '../../../service/accounts/mana-rewards.ts'
import { number32, pathId } from '../parameters.ts'
import { serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** The mana rewards of a stake or a delegation (rest.md 4.1). */
export const rewardsRoute = readRoute({
  path: '/api/core/v3/rewards/{outputId}',
  about: 'Returns the mana rewards that a stake or a delegation can claim.',
  params: { outputId: pathId(OutputId) },
  query: {
    slot: number32('Slot of the commitment that the claim will refer to; the newest by default.'),
  },
  reply: serialized('The rewards and their epochs.', ManaRewards),
  errors: [404],
  answer: ({ outputId, slot }, services) => readManaRewards(services, outputId, slot),
})
