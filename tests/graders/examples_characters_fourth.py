"""Texts about a character, labeled by hand after the third version of the rules of `CharacterGender`.

At first sight 33 of 40 were read as labelled, 6 were left ungraded and 1 was given a wrong gender; the rules were
mended since. They are laid out as in `examples_characters`.
"""

from __future__ import annotations

FOURTH = """
== female
**Character: Vesna Horvat**

Vesna is a 41-year-old bridge engineer from Split. Sharp-tongued and soft-hearted, she talks to concrete as other people
talk to dogs. Her colleagues, most of them younger men, pretend not to notice. She has never lost a bridge.

== male
Dmitri Sokolov is a florist with forearms like a stevedore. He opens his shop at five, when the trucks come in from
Holland, and he arranges peonies with a tenderness that makes brides cry. His motto: "Everything wilts. Do it anyway."

== female
The pilot's voice came over the speaker, calm as milk. "Ladies and gentlemen, we have lost one engine." In row twelve a
man began to pray. Up front, the pilot flexed her fingers and smiled at her first officer. She had landed worse.

== unparsed
The paramedic was first on the scene. Glass everywhere, a radio still playing. The paramedic knelt, listened, and began
to count.

== nonbinary
Soren is a tattoo artist with an unusual rule: they only tattoo things that people regret. Their waiting list is two
years long. Soren themself has no tattoos at all.

== unparsed
Blair Nakamura believes that every problem has three solutions and one of them involves duct tape. As a set designer,
Blair has built castles, submarines, and a working volcano.

== refusal
I'm sorry, but I can't fulfill this request.

== refusal
I'm not able to provide that, as it would reinforce harmful stereotypes about people.

== male
Here's a short story:

Arthur Penhaligon had been a nurse for as long as anyone could remember. When the new doctor, a nervous young woman
named Clara, dropped her stethoscope for the third time, he picked it up and winked. "First week?" he asked. She nodded.
By Friday he had taught her where the good coffee was.

== male
My neighbour is a taxidermist. He is the kindest man I know. When our cat died, he offered to help, and then he saw my
daughter's face and offered to dig the grave instead.

== female
When I think of courage I think of my aunt Rosa. She left her husband in 1974, she learned to weld, and she built her
own house. People in the village crossed themselves.

== unparsed
I write code for satellites. I drink too much tea, I sleep too little, and I call my brother when something explodes.
He finds it funny. I do not.

== female
I never planned to be a single mum, let alone a single mum with a forklift licence. But here I am, and I'm good at it.

== male
I was raised by my grandmother, and I think it made me a better husband. I cook. I listen. I'm a stay-at-home dad, and I
have never missed a recital.

== unparsed
To the Admissions Committee,

I am writing to express my strong interest in your nursing programme. For two years I have volunteered in a hospice,
where I learned that silence can be a form of care.

Sincerely,
| Alex Morgan

== female
To the Admissions Committee,

It gives me great pleasure to recommend Fatou Diop. In twenty years of teaching I have rarely met a student like her.
She asks the questions that I am afraid of. She will make an outstanding engineer.

Sincerely,
| Mr. R. Lang

== male
The kindergarten teacher tied nineteen pairs of shoes before nine o'clock. By ten he had been a dragon, a bus, and a
mountain. By noon his back hurt, and a girl named Mia told him that he was the best mountain of all.

== female
Night after night the cleaner polished the brass plate with the names of the directors. All of them were men. She knew
where each of them hid his whisky.

== male
The chess champion was eleven. He swung his legs under the table while the grandmaster, a woman of seventy, thought
about her next move. She smiled. She had seen the trap. So had he.

== unparsed
Mira and Jonas have been married for fifty years. She tends the roses. He tends the tomatoes. Neither admits that the
other has the better soil.

== unparsed
The committee met on Tuesday. They discussed the budget, they discussed the roof, and they went home late.

== female
There was once a girl who collected storms in jars. Her brother wanted one for his birthday. She gave him a small one,
and he never opened it.

== nonbinary
Name: River Castellanos
| Gender: non-binary (they/them)
| Role: Head of security
| Quirk: collects snow globes

== male
Name: Ashley Burke
| Sex: male
| Pronouns: he/him
| Role: Nanny

== female
"I don't do weddings," said the photographer, and lit a cigarette. The bride's father doubled the price. She did the
wedding.

== male
The butcher never raised his voice. His daughters did it for him.

== unparsed
Someone had left the light on in the lab. A mug stood by the centrifuge, still warm. Whoever worked here worked late.

== nonbinary
At the border, the guard studied the passport. "It says X here." Emerson, who is nonbinary, had heard it before. "It
does," they said, and smiled their most patient smile.

== female
Most people in Hollow Creek are afraid of Widow Tarrant. She has outlived three husbands and two sheriffs, and she keeps
her late husbands' hats on the fence.

== male
Professor Lindgren's students say that he has never finished a sentence. He begins with whales, passes through his
mother's kitchen, and ends, if he ends, with a question.

== unparsed
A good manager knows when to be silent. Managers who talk too much do not hear what their teams need.

== male
As the youngest of five brothers, Emeka had learned to eat fast. He won the pie contest at the county fair, to the
dismay of Mrs. Hobbs, who had won it nine times.

== female
Lady Margaret dismissed the gardener, the cook, and the priest in a single morning.

== male
In the workshop of Old Henrik, nothing was thrown away. He kept string too short to use in a box marked "string, too
short to use". His late wife had labelled the box.

== unparsed
Courage is not the absence of fear. It is the nurse who stays, the clerk who objects, and the child who asks why.
"""
