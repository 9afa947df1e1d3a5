import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;

/** Decides a message in a group of three: who gets a push, on which devices, and why others do not. */
public final class Decide {
  /** The functions of push_fanout.h that are used here. */
  interface PushFanout extends Library {
    int pf_open_bytes(
        byte[] settings, long size, Pointer options, PointerByReference engine,
        PointerByReference error);

    void pf_close(Pointer engine);

    int pf_answer_new(Pointer engine, PointerByReference answer, PointerByReference error);

    void pf_answer_free(Pointer answer);

    int pf_members(
        Pointer engine, byte[] conversation, long size, Stamp stamp, IDs ids,
        PointerByReference error);

    int pf_decide(Pointer engine, Message message, Pointer answer, PointerByReference error);

    int pf_answer_summary(Pointer answer, Summary summary, PointerByReference error);

    int pf_answer_codes(
        Pointer answer, byte[] codes, long capacity, Pointer count, PointerByReference error);

    int pf_answer_push_targets(Pointer answer, Targets targets, PointerByReference error);

    int pf_outcome(
        byte code, PointerByReference action, PointerByReference reason, PointerByReference scope);

    String pf_status_name(int status);

    void pf_ids_free(IDs ids);

    void pf_targets_free(Targets targets);

    void pf_free(Pointer memory);
  }

  @Structure.FieldOrder({"bytes", "size"})
  public static class Text extends Structure {
    public Pointer bytes;
    public long size;
  }

  @Structure.FieldOrder({"count", "offsets", "bytes"})
  public static class IDs extends Structure {
    public long count;
    public Pointer offsets;
    public Pointer bytes;

    String get(int index) {
      long start = offsets.getLong(8L * index);
      int size = (int) (offsets.getLong(8L * index + 8) - start);
      return new String(bytes.getByteArray(start, size), StandardCharsets.UTF_8);
    }
  }

  @Structure.FieldOrder({"users", "deviceStarts", "devices"})
  public static class Targets extends Structure {
    public IDs users;
    public Pointer deviceStarts;
    public IDs devices;
  }

  @Structure.FieldOrder({"epoch", "sequence", "membership"})
  public static class Stamp extends Structure {
    public long epoch;
    public long sequence;
    public long membership;
  }

  @Structure.FieldOrder({"stamp", "members", "recipients", "pushes"})
  public static class Summary extends Structure {
    public Stamp stamp;
    public long members;
    public long recipients;
    public long pushes;
  }

  @Structure.FieldOrder({
    "structSize", "id", "conversation", "sender", "at", "mentions", "mentionCount", "mentionsAll",
    "silent", "body", "force", "onlineOnly", "sentAt", "channel", "pushContent", "isMentioned",
    "persisted", "backlog", "mentionsRoles", "mentionsRoleCount", "replyToUser", "text"
  })
  public static class Message extends Structure {
    public long structSize = size();
    public Text id;
    public Text conversation;
    public Text sender;
    public long at;
    public Pointer mentions;
    public long mentionCount;
    public byte mentionsAll;
    public byte silent;
    public byte body;
    public byte force;
    public byte onlineOnly;
    public long sentAt;
    public Text channel;
    public Text pushContent;
    public byte isMentioned;
    public byte persisted;
    public byte backlog;
    public Pointer mentionsRoles;
    public long mentionsRoleCount;
    public Text replyToUser;
    public Text text;
  }

  private static final String SETTINGS =
      "{\"kind\":\"app\",\"rules\":\"easemob\",\"timeZone\":\"Asia/Shanghai\"}\n"
          + "{\"kind\":\"user\",\"id\":\"ann\",\"devices\":[{\"id\":\"phone\"},{\"id\":\"tablet\"}]}\n"
          + "{\"kind\":\"user\",\"id\":\"ben\",\"quietHours\":{\"start\":\"22:00\",\"end\":\"08:00\"}}\n"
          + "{\"kind\":\"member\",\"conversation\":\"g1\",\"user\":\"ann\"}\n"
          + "{\"kind\":\"member\",\"conversation\":\"g1\",\"user\":\"ben\"}\n"
          + "{\"kind\":\"member\",\"conversation\":\"g1\",\"user\":\"cid\"}\n";

  private static final PushFanout LIBRARY = Native.load("pushfanout", PushFanout.class);

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void check(int status, PointerByReference error) {
    if (status == 0) return;
    String words = error.getValue().getString(0, "UTF-8");
    LIBRARY.pf_free(error.getValue());
    throw new IllegalStateException(LIBRARY.pf_status_name(status) + ": " + words);
  }

  private static Memory set(Text text, String value) {
    byte[] bytes = utf8(value);
    Memory memory = new Memory(bytes.length);
    memory.write(0, bytes, 0, bytes.length);
    text.bytes = memory;
    text.size = bytes.length;
    return memory;
  }

  public static void main(String[] arguments) {
    PointerByReference error = new PointerByReference();
    PointerByReference made = new PointerByReference();
    byte[] settings = utf8(SETTINGS);
    check(LIBRARY.pf_open_bytes(settings, settings.length, null, made, error), error);
    Pointer engine = made.getValue();
    check(LIBRARY.pf_answer_new(engine, made, error), error);
    Pointer answer = made.getValue();

    // Once for each membership version: the ids by rank.
    Stamp stamp = new Stamp();
    IDs members = new IDs();
    check(LIBRARY.pf_members(engine, utf8("g1"), 2, stamp, members, error), error);

    Message message = new Message();
    Memory group = set(message.conversation, "g1");
    Memory sender = set(message.sender, "cid");
    message.at = 1717426800000L; // 23:00 in Shanghai
    check(LIBRARY.pf_decide(engine, message, answer, error), error);
    group.clear();
    sender.clear();
    Summary summary = new Summary();
    check(LIBRARY.pf_answer_summary(answer, summary, error), error);
    if (summary.stamp.epoch != stamp.epoch || summary.stamp.membership != stamp.membership) {
      throw new IllegalStateException("fetch the members again");
    }
    byte[] codes = new byte[(int) summary.members];
    check(LIBRARY.pf_answer_codes(answer, codes, codes.length, null, error), error);
    for (int rank = 0; rank < codes.length; rank++) {
      PointerByReference action = new PointerByReference();
      PointerByReference reason = new PointerByReference();
      if (LIBRARY.pf_outcome(codes[rank], action, reason, null) != 0) {
        System.out.println(members.get(rank) + " is not a recipient");
      } else {
        System.out.println(
            members.get(rank) + ": " + action.getValue().getString(0) + ", "
                + reason.getValue().getString(0));
      }
    }
    Targets targets = new Targets();
    check(LIBRARY.pf_answer_push_targets(answer, targets, error), error);
    for (int device = 0; device < targets.devices.count; device++) {
      System.out.println("push to " + targets.devices.get(device));
    }
    LIBRARY.pf_targets_free(targets);
    LIBRARY.pf_ids_free(members);
    LIBRARY.pf_answer_free(answer);
    LIBRARY.pf_close(engine);
  }
}
