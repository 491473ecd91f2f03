"""Who is there, who is where, and with which keys: everything that changes the directory."""

from typing import Any

from recollect.core.access import KEY_SCOPES, ROLES, KeyScope
from walls.asking import Ask
from walls.permitted import Key, Person, Space
from walls.play import FORBIDDEN, MISSING, UNAUTHORISED, Play, deed

TAKEN = 409
MOST_PEOPLE = 8


class PeopleRules(Play):
    @deed
    def add_person(self) -> None:
        key, model = self.actor(), self.model
        name = self.choose([model.marks.name("pe"), *self.gone[-1:], *model.people, *model.spaces])
        taken = name in model.people or name in model.spaces
        refusal = self._only_who_runs_the_server(key)
        admin = self.chance(4)
        ask = Ask("POST /v1/people", body={"id": name, "admin": admin})
        if self.put(key, ask, refusal, TAKEN if taken else 201):
            self.touched.add("people")
            model.people[name] = Person(name, admin)
            self.touched.add(self.note_space(name, name, name).scope)

    @deed
    def remove_person(self) -> None:
        key, model = self.actor(), self.model
        name = self.choose([*list(model.people)[1:], *model.people, *self.gone[-1:]])
        refusal = self._only_who_runs_the_server(key)
        person = model.people.get(name)
        others = [each for each in model.people.values() if each.admin and each.name != name]
        teams = [space for space in model.spaces.values() if space.owner is None and name in space.roles]
        blocked = not others or any(space.admins == {name} for space in teams)
        ok = MISSING if person is None else TAKEN if blocked else 204
        if self.put(key, Ask("DELETE /v1/people/{person}", {"person": name}), refusal, ok) is None:
            return
        self.touched |= {"people", f"keys of {name}", model.spaces[name].scope}
        for space in model.spaces.values():
            if space.roles.pop(name, None):
                self.touched.add(space.scope)
        for each in [each for each in model.keys if each.person == name]:
            each.holds = False
            model.keys.remove(each)
            model.gone_keys.append(each)
        del model.people[name], model.spaces[name]
        self.gone.append(name)

    @deed
    def make_key(self) -> None:
        key, model = self.actor(), self.model
        holder = self.choose([key.person, *model.people])
        scope: KeyScope = self.choose(KEY_SCOPES)
        names: list[str] = []
        if self.chance():
            pool = [*model.reach(key), *model.spaces]
            names = list(dict.fromkeys(self.choose(pool) for _ in range(self.random.randint(1, 2))))
        body: dict[str, Any] = {"name": model.marks.name("ke"), "scope": scope, "spaces": names or None}
        if holder != key.person:
            body["person"] = holder
        refusal = self._may_make_key(key, holder, names)
        # The answer may name the holder, so a space of the same name cannot be told from them.
        hidden = [name for name in names if name not in model.reach(key) and name != holder]
        guessed = hidden[0] if hidden and refusal == MISSING and holder == key.person else None
        answer = self.put(key, Ask("POST /v1/keys", body=body), refusal, 201, guessed=guessed)
        if answer is None:
            return
        self.touched.add(f"keys of {holder}")
        made = answer.data
        spaces = frozenset(model.spaces[name].number for name in names) if names else None
        model.people[holder].had_key = True
        model.keys.append(Key(made["prefix"], made["token"], holder, scope, body["name"], spaces))

    def _may_make_key(self, key: Key, holder: str, names: list[str]) -> int | None:
        model = self.model
        if not key.holds:
            return UNAUTHORISED
        if key.scope != "admin":
            return FORBIDDEN
        if holder == key.person:
            if not names and key.spaces is not None:
                return FORBIDDEN
            return None if set(names) <= model.reach(key).keys() else MISSING
        if not model.runs_server(key) or model.people[holder].had_key:
            return FORBIDDEN
        return None if all(holder in model.spaces[name].roles for name in names) else MISSING

    @deed
    def revoke_key(self) -> None:
        key, model = self.actor(), self.model
        other = self.choose([*model.visible_keys(key)[1:], *model.keys, *model.gone_keys[-1:]])
        refusal = None if other in model.visible_keys(key) else MISSING
        ask = Ask("DELETE /v1/keys/{prefix}", {"prefix": other.prefix})
        refusal = refusal if key.holds else UNAUTHORISED
        if self.put(key, ask, refusal, guessed=other.prefix):
            self.touched.add(f"keys of {other.person}")
            other.holds = False

    @deed
    def let_key_expire(self) -> None:
        """Its time comes, as far as the database knows."""
        key = self.choose(self.model.keys)
        if sum(each.holds for each in self.model.keys) > 3:
            self.stage.watch.execute("UPDATE api_keys SET expires_at = 1 WHERE prefix = %s", (key.prefix,))
            self.touched.add(f"keys of {key.person}")
            key.holds = False

    @deed
    def make_space(self) -> None:
        key, model = self.actor(), self.model
        name = self.choose([model.marks.name("sp"), *self.gone[-2:], *model.spaces])
        refusal = None if key.scope == "admin" and key.spaces is None else FORBIDDEN
        refusal = refusal if key.holds else UNAUTHORISED
        taken = name in model.spaces
        if self.put(key, Ask("POST /v1/spaces", body={"id": name}), refusal, TAKEN if taken else 201):
            space = self.note_space(name, None, key.person)
            self.touched.add(space.scope)
            self.note_visit(key, space)

    @deed
    def remove_space(self) -> None:
        key, name = self._key_and_space()
        space, refusal = self.judge(key, "administer", name)
        ok = TAKEN if space and space.owner else 204
        ask = Ask("DELETE /v1/spaces/{space}", {"space": name})
        if self.put(key, ask, refusal, ok, guessed=self.unseen(key, name)) and space:
            self.touched.add(space.scope)
            del self.model.spaces[name]
            self.gone.append(name)

    @deed
    def set_member(self) -> None:
        key, name = self._key_and_space()
        space, refusal = self.judge(key, "administer", name)
        person, role = self.choose([*self.model.people, *self.gone[-1:]]), self.choose(ROLES)
        ok = 200
        if person not in self.model.people:
            ok = MISSING
        elif space and not self.model.keeps_admin(space, person, role):
            ok = TAKEN
        ask = Ask("PUT /v1/spaces/{space}/members/{person}", {"space": name, "person": person}, body={"role": role})
        if self.put(key, ask, refusal, ok, guessed=self.unseen(key, name)) and space:
            self._changed_members(key, space, person)
            space.roles[person] = role

    @deed
    def remove_member(self) -> None:
        key, name = self._key_and_space()
        person = self.choose([key.person, *self.model.people])
        leaves = person == key.person
        space, refusal = self.judge(key, "read" if leaves else "administer", name)
        if space and leaves and key.scope != "admin":
            space, refusal = None, FORBIDDEN
        ok = 204
        if space and person not in space.roles:
            ok = MISSING
        elif space and not self.model.keeps_admin(space, person, None):
            ok = TAKEN
        ask = Ask("DELETE /v1/spaces/{space}/members/{person}", {"space": name, "person": person})
        hidden = person not in self.model.visible_people(key) and ok == MISSING
        guessed = self.unseen(key, name) or (person if hidden else None)
        if self.put(key, ask, refusal, ok, guessed=guessed) and space:
            self._changed_members(key, space, person)
            del space.roles[person]

    def _changed_members(self, key: Key, space: Space, person: str) -> None:
        self.touched.add(space.scope)
        self.note_visit(key, space)
        space.logged.add(person)

    def _key_and_space(self) -> tuple[Key, str]:
        key = self.actor()
        name = self.somewhere(key)
        return key, name or self.model.own(key) or next(iter(self.model.spaces))

    def _only_who_runs_the_server(self, key: Key) -> int | None:
        if not key.holds:
            return UNAUTHORISED
        return None if self.model.runs_server(key) else FORBIDDEN
