import { ManaRewards } from '../../../protocol/node-answers.ts'
import { OutputId, SlotIndex } from '../../../protocol/primitives.ts'
import { readManaRewards } from '../../../service/accounts/mana-rewards.ts'
import { parseSlot } from '../../../service/updates/update-position.ts'
import { toRest } from '../../errors.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { about } from '../openapi/shape.ts'
import type { Route } from '../route.ts'
import { answered, answerWith } from './answer.ts'
import { pathId } from './ids.ts'

/** What a stake or a delegation may claim (rest.md 4.1). */
export const rewardsRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/rewards/{outputId}',
  about: 'What a stake or a delegation may claim.',
  params: { outputId: shapeOf(OutputId) },
  query: {
    slot: about(
      'Of the commitment that the claim is to refer to; the newest by default.',
      shapeOf(SlotIndex),
    ),
  },
  answers: { 200: answered('The rewards, and the epochs they are for.', ManaRewards) },
  errors: [404],
  answer: async (request, services) => {
    const outputId = pathId(request, 'outputId', OutputId)
    if (!outputId.ok) return toRest(outputId.error)
    const given = request.query.get('slot')
    const slot = given === undefined ? undefined : parseSlot(given)
    if (given !== undefined && slot === undefined) {
      const expected = 'a whole number from 0 to 4294967295'
      return toRest({ code: 'QUERY_PARAMETER_MALFORMED', name: 'slot', expected })
    }
    const rewards = await readManaRewards(services, outputId.value, slot)
    return rewards.ok ? answerWith(request, ManaRewards, rewards.value) : toRest(rewards.error)
  },
}
